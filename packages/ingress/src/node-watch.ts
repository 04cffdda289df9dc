// Watches whether the machine of a node answers, while anything is under way to it. On a wire that is cut the connections
// stand, and say nothing for minutes: here a request learns within two seconds that the node is not reached.
import { setTimeout as delay } from 'node:timers/promises';

/** A request or a WebSocket under way to a node. */
export interface AtNode {
  /** Its answer has begun. */
  readonly isAnswered: boolean;
  /** The machine of the node is not reached. */
  lose(): void;
}

/** Between two looks. What the node sends in between is a sign of life as well. */
const LOOK_MILLISECONDS = 400;
/** Looks from one probe to the next while nobody waits for an answer. */
const SELDOM = 5;
/** Until a probe has failed. */
const PROBE_MILLISECONDS = 800;
/** Without a sign of life, until answers that have begun and WebSockets end as well. A shorter cut they outlive. */
const DEAD_MILLISECONDS = 10_000;

export class NodeWatch {
  readonly #probe: (signal: AbortSignal) => Promise<void>;
  readonly #underWay = new Set<AtNode>();
  #isHeard = false;
  #isWatching = false;

  /** @param probe rejects when the machine does not answer before the signal fires */
  constructor(probe: (signal: AbortSignal) => Promise<void>) {
    this.#probe = probe;
  }

  begin(one: AtNode): void {
    this.#underWay.add(one);
    if (!this.#isWatching) void this.#watch();
  }

  end(one: AtNode): void {
    this.#underWay.delete(one);
  }

  /** The node sent something. */
  heard(): void {
    this.#isHeard = true;
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    let silentSince: number | null = null;
    for (let look = 1; this.#underWay.size > 0; look += 1) {
      await delay(LOOK_MILLISECONDS, undefined, { ref: false });
      const isProbed = look % SELDOM === 0 || silentSince !== null || this.#isAwaited();
      if (!isProbed && !this.#isHeard) continue;
      const begun = performance.now();
      if (await this.#isThere()) {
        silentSince = null;
        continue;
      }
      silentSince ??= begun;
      const isDead = performance.now() - silentSince >= DEAD_MILLISECONDS;
      for (const one of [...this.#underWay]) if (isDead || !one.isAnswered) one.lose();
    }
    this.#isWatching = false;
  }

  #isAwaited(): boolean {
    return this.#underWay.values().some(({ isAnswered }) => !isAnswered);
  }

  async #isThere(): Promise<boolean> {
    if (!this.#isHeard) {
      const limit = new AbortController();
      // What arrived while this process was busy is read first.
      const timer = setTimeout(() => setImmediate(() => limit.abort()), PROBE_MILLISECONDS);
      try {
        await this.#probe(limit.signal);
        return true;
      } catch {
        // What arrived meanwhile counts as well.
      } finally {
        clearTimeout(timer);
      }
    }
    const isHeard = this.#isHeard;
    this.#isHeard = false;
    return isHeard;
  }
}
