// Caches the caller of a credential, so that a warm lookup costs no query. Signals invalidate entries; while signals
// are not received, the cache is not used.
import { LRUCache } from 'lru-cache';
import type { Signals } from '../database/signals.ts';
import type { Caller } from './caller.ts';

const ENTRIES = 50_000;
/** One look-up a minute and credential, which is also what keeps `lastUsedAt` of a session true. */
const FRESH_MILLISECONDS = 60_000;

interface Entry {
  readonly caller: Caller;
  /** An account, a node or an Ingress. */
  readonly owner: string;
  readonly until: number;
}

export class IdentityCache {
  readonly #callers = new LRUCache<string, Entry>({
    max: ENTRIES,
    dispose: ({ owner }, key) => this.#leave(owner, key),
  });
  /** Keys by owner: a signal about one account must not cost a look at all others, as accounts cause signals at will. */
  readonly #ofOwner = new Map<string, Set<string>>();
  readonly #signals: Signals;
  readonly #clock: () => Date;
  /** Grows with every forgetting, so that a look-up that began before cannot store what it found. */
  #generation = 0;

  constructor(signals: Signals, clock: () => Date) {
    this.#signals = signals;
    this.#clock = clock;
    signals.onReset(() => this.#forgetAll());
    signals.on('installation-changed', ({ accountKey, installationId }) =>
      this.#forget(accountKey, (caller) => 'installationId' in caller && caller.installationId === installationId),
    );
    signals.on('credential-replaced', ({ installationId }) =>
      // At each start of a workload, which takes its node far longer than this.
      this.#forgetEvery((caller) => caller.kind === 'installation' && caller.installationId === installationId),
    );
    signals.on('node-credential-replaced', ({ nodeId }) => this.#forget(nodeId, () => true));
    signals.on('ingress-credential-replaced', ({ ingressId }) => this.#forget(ingressId, () => true));
    signals.on('author-token-ended', ({ accountKey, tokenId }) =>
      this.#forget(accountKey, (caller) => caller.kind === 'author' && caller.tokenId === tokenId),
    );
    signals.on('pause-changed', ({ accountKey }) => this.#forget(accountKey, () => true));
    signals.on('session-ended', ({ accountKey, sessionId }) =>
      this.#forget(
        accountKey,
        (caller) => 'sessionId' in caller && (sessionId === null || caller.sessionId === sessionId),
      ),
    );
  }

  async find(hash: Buffer, look: () => Promise<Caller | null>): Promise<Caller | null> {
    const key = hash.toString('latin1');
    const now = this.#clock().getTime();
    if (this.#signals.connected) {
      const known = this.#callers.get(key);
      if (known !== undefined && now < known.until) return known.caller;
    }
    const generation = this.#generation;
    const found = await look();
    if (found !== null && this.#signals.connected && generation === this.#generation) {
      this.#keep(key, found, now + FRESH_MILLISECONDS);
    }
    return found;
  }

  #keep(key: string, caller: Caller, until: number): void {
    const owner = ownerOf(caller);
    this.#callers.set(key, { caller, owner, until });
    const keys = this.#ofOwner.get(owner) ?? new Set();
    this.#ofOwner.set(owner, keys.add(key));
  }

  #leave(owner: string, key: string): void {
    const keys = this.#ofOwner.get(owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#ofOwner.delete(owner);
  }

  #forget(owner: string, matches: (caller: Caller) => boolean): void {
    this.#generation += 1;
    for (const key of [...(this.#ofOwner.get(owner) ?? [])]) {
      const entry = this.#callers.peek(key);
      if (entry !== undefined && matches(entry.caller)) this.#callers.delete(key);
    }
  }

  #forgetEvery(matches: (caller: Caller) => boolean): void {
    for (const owner of [...this.#ofOwner.keys()]) this.#forget(owner, matches);
  }

  #forgetAll(): void {
    this.#generation += 1;
    this.#callers.clear();
  }
}

function ownerOf(caller: Caller): string {
  if (caller.kind === 'node') return caller.nodeId;
  if (caller.kind === 'ingress') return caller.ingressId;
  return caller.kind === 'anonymous' ? '' : caller.accountKey;
}
