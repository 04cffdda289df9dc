// How many bodies of one caller may be arriving at the same time, and of all apps of one account, and of all apps. A body that
// arrived with its head takes no place: what is held down is bodies that come slowly or never end, over however many connections.
import type { IncomingMessage } from 'node:http';
import { limits, RefusalError } from '@platform/contract';
import { type EndTurn, Turns } from '../../background/turns.ts';

/**
 * How long a body waits for a place of its caller: those before it mostly arrive within milliseconds, and so does the
 * rest of this one.
 */
const PATIENCE_MILLISECONDS = 250;
/** An upload takes longer, and what waits behind it is not read meanwhile. */
const PATIENCE_OF_UPLOADS = 10_000;
/** Bodies of one caller that wait so. */
const WAITING = 64;
const MOST = limits.unfinishedBodies.value;
const DETAIL = `At most ${MOST} bodies may be arriving at the same time. Finish one, then send this again.`;

const RULES = { ofKey: MOST, waiting: WAITING, milliseconds: PATIENCE_MILLISECONDS, detail: DETAIL };
const WITHOUT_ACCOUNT = { ...RULES, inAll: limits.unfinishedAnonymousBodies.value };
const OF_APPS = {
  ...RULES,
  ofKey: limits.unfinishedBodiesOfApps.value,
  inAll: limits.unfinishedAppBodies.value,
  detail: 'Too many bodies of apps are arriving at the same time. Send this again in a moment.',
};

type KnownSender = Extract<BodySender, { readonly kind: 'known' }>;

/** Who sends a body. */
export type BodySender =
  | {
      readonly kind: 'known';
      readonly name: string;
      /** Of an app, the account whose it is; `null` for every other caller. */
      readonly appOf: string | null;
    }
  | {
      readonly kind: 'anonymous';
      /** The network. */
      readonly name: string;
      /** The browser, where somebody has signed in there before. */
      readonly browser: string | null;
    };

export class BodyPlaces {
  readonly #ofCallers = new Turns(RULES);
  readonly #ofApps = new Turns(OF_APPS);
  readonly #ofStrangers = new Turns(WITHOUT_ACCOUNT);
  readonly #ofBrowsers = new Turns(WITHOUT_ACCOUNT);

  /**
   * Reads a body in a place of its caller.
   *
   * @throws RefusalError `concurrency_limited` when the caller has its share of unfinished bodies
   */
  async read<Body>(request: IncomingMessage, caller: BodySender, read: () => Promise<Body>): Promise<Body> {
    const end = await this.#hold(request, caller, PATIENCE_MILLISECONDS);
    try {
      return await read();
    } finally {
      end();
    }
  }

  /**
   * Holds a place of the caller for an upload that its handler reads: until it has arrived, its caller has left, or it is given back.
   *
   * @throws RefusalError `concurrency_limited` when the caller has its share of unfinished bodies
   */
  hold(request: IncomingMessage, caller: BodySender): Promise<EndTurn> {
    return this.#hold(request, caller, PATIENCE_OF_UPLOADS);
  }

  async #hold(request: IncomingMessage, caller: BodySender, patience: number): Promise<EndTurn> {
    // Node hands over the head before it looks at what came with it.
    if (!request.complete) await new Promise((resolve) => setImmediate(resolve));
    if (request.complete) return () => undefined;
    const gone = new AbortController();
    const close = (): void => gone.abort(new Error('aborted'));
    if (request.destroyed) close();
    else request.once('close', close);
    let end: EndTurn;
    try {
      end = await this.#take(caller, gone.signal, patience);
    } catch (error) {
      request.off('close', close);
      // It arrived while it waited: nothing of it is missing that could be held back.
      if (request.complete) return () => undefined;
      throw error;
    }
    request.off('close', close);
    request.once('end', end).once('close', end);
    if (request.destroyed) end();
    return () => {
      request.off('end', end).off('close', end);
      end();
    };
  }

  /** A browser that signed in before has places that no stranger can take, and those of its network besides. */
  async #take(sender: BodySender, gone: AbortSignal, patience: number): Promise<EndTurn> {
    if (sender.kind === 'known') return this.#takeKnown(sender, gone, patience);
    if (sender.browser !== null) {
      try {
        return await this.#ofBrowsers.take(sender.browser, gone, patience);
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
      }
    }
    return this.#ofStrangers.take(sender.name, gone, patience);
  }

  /** First the app's own place: one that has none to spare must not keep others of its account waiting. */
  async #takeKnown({ name, appOf }: KnownSender, gone: AbortSignal, patience: number): Promise<EndTurn> {
    const endOwn = await this.#ofCallers.take(name, gone, patience);
    if (appOf === null) return endOwn;
    try {
      const endOfApps = await this.#ofApps.take(appOf, gone, patience);
      return () => {
        endOfApps();
        endOwn();
      };
    } catch (error) {
      endOwn();
      throw error;
    }
  }
}
