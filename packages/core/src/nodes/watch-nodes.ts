// Detects nodes without heartbeats and reassigns what they ran. Every replica of core does this; the first one decides,
// guarded in the database. Time is counted from what this process saw, with its monotonic clock.
import type { CoreContext } from '../context.ts';
import { placeWaiting, takeFromLost } from '../placement/face.ts';
import { loseNode } from './lose-node.ts';
import { watchedNodes } from './lost-queries.ts';

interface Sighting {
  readonly beat: string;
  readonly at: number;
}

const SLOWEST_TICK_MILLISECONDS = 5_000;

export class NodeWatch {
  readonly #context: CoreContext;
  readonly #monotonic: () => number;
  readonly #tickMilliseconds: number;
  /** When each node's latest heartbeat was first seen here. */
  #seen = new Map<string, Sighting>();
  #looked: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param monotonic milliseconds that only ever go forward, e.g. `performance.now` */
  constructor(context: CoreContext, monotonic: () => number) {
    this.#context = context;
    this.#monotonic = monotonic;
    this.#tickMilliseconds = Math.min(context.config.nodeLostMilliseconds / 10, SLOWEST_TICK_MILLISECONDS);
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#work = this.tick()
        .catch((error: unknown) => {
          // Nothing was seen, so nothing may be concluded from it.
          this.#seen.clear();
          if (!this.#stopped)
            this.#context.log.warn({ err: error }, 'nodes could not be checked for missing heartbeats');
        })
        .finally(() => this.start());
    }, this.#tickMilliseconds);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  /** One look at all nodes, and what follows from it. */
  async tick(): Promise<void> {
    for (const node of await this.#silent()) {
      const moved = await loseNode(this.#context, node);
      if (moved !== null)
        this.#context.log.warn(
          { nodeId: node.id, name: node.name, moved },
          'a node is lost; what can move is placed elsewhere',
        );
    }
    await placeWaiting(this.#context);
  }

  async #silent(): Promise<{ id: string; name: string; beat: string }[]> {
    const rows = await watchedNodes(this.#context.database);
    const now = this.#monotonic();
    // A process that was held up, or waited for a database that was, has not been watching: heartbeats waited as well.
    const held = this.#looked !== undefined && now - this.#looked > 3 * this.#tickMilliseconds;
    this.#looked = now;
    const seen = new Map<string, Sighting>();
    for (const { id, beat } of rows) {
      const known = held ? undefined : this.#seen.get(id);
      seen.set(id, known?.beat === beat ? known : { beat, at: now });
    }
    this.#seen = seen;
    for (const { id } of rows.filter(({ lost }) => lost)) await takeFromLost(this.#context, id);
    const own = this.#context.config.nodeLostMilliseconds;
    return rows.filter(({ id, lost, lostAfter }) => {
      const at = seen.get(id)?.at ?? now;
      // Another core may be more patient, and the node goes by what that one said.
      return !lost && now - at >= Math.max(own, lostAfter);
    });
  }
}
