// Caches the caller of a credential, so that a warm lookup costs no query. The signals that its scheme names invalidate
// entries; while signals are not received, the cache is not used.
import { LRUCache } from 'lru-cache';
import type { Signals } from '../../database/signals.ts';
import type { Caller } from '../caller.ts';
import { subjectOf } from './callers.ts';
import type { AnyChange, AnyScheme } from './scheme.ts';

const ENTRIES = 50_000;
/** One look-up a minute and credential, which is also what keeps `lastUsedAt` of a session true. */
const FRESH_MILLISECONDS = 60_000;

interface Entry {
  readonly caller: Caller;
  /** What the signals that concern it are about, as keys of the index. */
  readonly about: readonly string[];
  readonly until: number;
}

export class IdentityCache {
  readonly #callers = new LRUCache<string, Entry>({
    max: ENTRIES,
    dispose: ({ about }, key) => this.#leave(about, key),
  });
  /** Keys by what signals are about: one about an account must not cost a look at all others, as accounts cause signals at will. */
  readonly #index = new Map<string, Set<string>>();
  readonly #schemes: ReadonlyMap<string, AnyScheme>;
  readonly #signals: Pick<Signals, 'on' | 'onReset' | 'connected'>;
  readonly #clock: () => Date;
  /** Grows with every forgetting, so that a look-up that began before cannot store what it found. */
  #generation = 0;

  constructor(
    signals: Pick<Signals, 'on' | 'onReset' | 'connected'>,
    clock: () => Date,
    schemes: readonly AnyScheme[],
  ) {
    this.#signals = signals;
    this.#clock = clock;
    this.#schemes = new Map(schemes.map((scheme) => [scheme.kind, scheme]));
    signals.onReset(() => this.#forgetAll());
    const changes = schemes.flatMap((scheme) => scheme.changes.map((change) => ({ kind: scheme.kind, change })));
    for (const { kind, change } of changes) signals.on(change.signal, (data) => this.#forget(kind, change, data));
  }

  async find(hash: Buffer, look: () => Promise<Caller | null>): Promise<Caller | null> {
    const key = hash.toString('latin1');
    const now = this.#clock().getTime();
    if (this.#signals.connected) {
      const known = this.#callers.get(key);
      // Where the clock was set back it is looked up anew.
      if (known !== undefined && now < known.until && known.until - now <= FRESH_MILLISECONDS) return known.caller;
    }
    const generation = this.#generation;
    const found = await look();
    if (found !== null && this.#signals.connected && generation === this.#generation) {
      this.#keep(key, found, now + FRESH_MILLISECONDS);
    }
    return found;
  }

  #keep(key: string, caller: Caller, until: number): void {
    const changes = this.#schemes.get(caller.kind)?.changes ?? [];
    const about = [...new Set(changes.map((change) => indexKey(change, subjectOf(change, caller))))];
    this.#callers.set(key, { caller, about, until });
    for (const one of about) this.#index.set(one, (this.#index.get(one) ?? new Set()).add(key));
  }

  #leave(about: readonly string[], key: string): void {
    for (const one of about) {
      const keys = this.#index.get(one);
      keys?.delete(key);
      if (keys?.size === 0) this.#index.delete(one);
    }
  }

  #forget(kind: string, change: AnyChange, data: object): void {
    this.#generation += 1;
    const subject = String((data as Readonly<Record<string, unknown>>)[change.about]);
    for (const key of [...(this.#index.get(indexKey(change, subject)) ?? [])]) {
      const caller = this.#callers.peek(key)?.caller;
      if (caller?.kind === kind && change.matches?.(caller, data) !== false) this.#callers.delete(key);
    }
  }

  #forgetAll(): void {
    this.#generation += 1;
    this.#callers.clear();
  }
}

function indexKey({ about }: AnyChange, subject: string): string {
  return `${about} ${subject}`;
}
