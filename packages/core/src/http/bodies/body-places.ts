// How many bodies of one caller may be arriving at the same time. A body that arrived with its head takes no place: what
// is held down is bodies that come slowly or never end, over however many connections.
import type { IncomingMessage } from 'node:http';
import { limits, RefusalError } from '@platform/contract';
import { type EndTurn, Turns } from '../../background/turns.ts';

/**
 * How long a body waits for a place of its caller: those before it mostly arrive within milliseconds, and so does the
 * rest of this one.
 */
const PATIENCE_MILLISECONDS = 250;
/** Bodies of one caller that wait so. */
const WAITING = 64;
const MOST = limits.unfinishedBodies.value;
const DETAIL = `At most ${MOST} bodies may be arriving at the same time. Finish one, then send this again.`;

const RULES = { ofKey: MOST, waiting: WAITING, milliseconds: PATIENCE_MILLISECONDS, detail: DETAIL };
const WITHOUT_ACCOUNT = { ...RULES, inAll: limits.unfinishedAnonymousBodies.value };

/** Who sends a body. */
export type BodySender =
  | { readonly kind: 'known'; readonly name: string }
  | {
      readonly kind: 'anonymous';
      /** The network. */
      readonly name: string;
      /** The browser, where somebody has signed in there before. */
      readonly browser: string | null;
    };

export class BodyPlaces {
  readonly #ofCallers = new Turns(RULES);
  readonly #ofStrangers = new Turns(WITHOUT_ACCOUNT);
  readonly #ofBrowsers = new Turns(WITHOUT_ACCOUNT);

  /**
   * Reads a body in a place of its caller.
   *
   * @throws RefusalError `concurrency_limited` when the caller has its share of unfinished bodies
   */
  async read<Body>(request: IncomingMessage, caller: BodySender, read: () => Promise<Body>): Promise<Body> {
    // Node hands over the head before it looks at what came with it.
    if (!request.complete) await new Promise((resolve) => setImmediate(resolve));
    if (request.complete) return read();
    const gone = new AbortController();
    const close = (): void => gone.abort(new Error('aborted'));
    if (request.destroyed) close();
    else request.once('close', close);
    let end = (): void => undefined;
    try {
      end = await this.#take(caller, gone.signal);
    } catch (error) {
      // It arrived while it waited: nothing of it is missing that could be held back.
      if (!request.complete) throw error;
    }
    try {
      return await read();
    } finally {
      request.off('close', close);
      end();
    }
  }

  /** A browser that signed in before has places that no stranger can take, and those of its network besides. */
  async #take(sender: BodySender, gone: AbortSignal): Promise<EndTurn> {
    if (sender.kind === 'known') return this.#ofCallers.take(sender.name, gone);
    if (sender.browser !== null) {
      try {
        return await this.#ofBrowsers.take(sender.browser, gone);
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
      }
    }
    return this.#ofStrangers.take(sender.name, gone);
  }
}
