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
  readonly until: number;
}

export class IdentityCache {
  readonly #callers = new LRUCache<string, Entry>({ max: ENTRIES });
  readonly #signals: Signals;
  readonly #clock: () => Date;
  /** Grows with every forgetting, so that a look-up that began before cannot store what it found. */
  #generation = 0;

  constructor(signals: Signals, clock: () => Date) {
    this.#signals = signals;
    this.#clock = clock;
    signals.onReset(() => this.#forget(() => true));
    signals.on('installation-changed', ({ installationId }) =>
      this.#forget((caller) => 'installationId' in caller && caller.installationId === installationId),
    );
    signals.on('credential-replaced', ({ installationId }) =>
      this.#forget((caller) => caller.kind === 'installation' && caller.installationId === installationId),
    );
    signals.on('node-credential-replaced', ({ nodeId }) =>
      this.#forget((caller) => caller.kind === 'node' && caller.nodeId === nodeId),
    );
    signals.on('pause-changed', ({ accountKey }) =>
      this.#forget((caller) => 'accountKey' in caller && caller.accountKey === accountKey),
    );
    signals.on('session-ended', ({ accountKey, sessionId }) =>
      this.#forget(
        (caller) =>
          'accountKey' in caller &&
          caller.accountKey === accountKey &&
          'sessionId' in caller &&
          (sessionId === null || caller.sessionId === sessionId),
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
      this.#callers.set(key, { caller: found, until: now + FRESH_MILLISECONDS });
    }
    return found;
  }

  #forget(matches: (caller: Caller) => boolean): void {
    this.#generation += 1;
    for (const [key, { caller }] of this.#callers.entries()) {
      if (matches(caller)) this.#callers.delete(key);
    }
  }
}
