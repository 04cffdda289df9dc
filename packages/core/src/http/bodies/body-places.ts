// How many bodies of one caller may be arriving at the same time. A body that arrived with its head takes no place: what
// is held down is bodies that come slowly or never end, over however many connections.
import type { IncomingMessage } from 'node:http';
import { limits } from '@platform/contract';
import { Turns } from '../../background/turns.ts';

/**
 * How long a body waits for a place of its caller: those before it mostly arrive within milliseconds, and so does the
 * rest of this one.
 */
const PATIENCE_MILLISECONDS = 250;
/** Bodies of one caller that wait so. */
const WAITING = 64;
const MOST = limits.unfinishedBodies.value;
const DETAIL = `At most ${MOST} bodies may be arriving at the same time. Finish one, then send this again.`;

export class BodyPlaces {
  readonly #ofCallers = new Turns({
    ofKey: MOST,
    waiting: WAITING,
    milliseconds: PATIENCE_MILLISECONDS,
    detail: DETAIL,
  });
  readonly #ofStrangers = new Turns({
    ofKey: MOST,
    inAll: limits.unfinishedAnonymousBodies.value,
    waiting: WAITING,
    milliseconds: PATIENCE_MILLISECONDS,
    detail: DETAIL,
  });

  /**
   * Reads a body in a place of its caller.
   *
   * @param caller `anonymous` where nobody has signed in, with the network as its name
   * @throws RefusalError `concurrency_limited` when the caller has its share of unfinished bodies
   */
  async read<Body>(
    request: IncomingMessage,
    caller: { readonly kind: 'anonymous' | 'known'; readonly name: string },
    read: () => Promise<Body>,
  ): Promise<Body> {
    // Node hands over the head before it looks at what came with it.
    if (!request.complete) await new Promise((resolve) => setImmediate(resolve));
    if (request.complete) return read();
    const gone = new AbortController();
    const close = (): void => gone.abort(new Error('aborted'));
    if (request.destroyed) close();
    else request.once('close', close);
    const turns = caller.kind === 'anonymous' ? this.#ofStrangers : this.#ofCallers;
    let end = (): void => undefined;
    try {
      end = await turns.take(caller.name, gone.signal);
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
}
