// Connections to an upstream for carrying: one request at a time on each, small messages in one write, and the begin of
// every answer checked.
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { gatherAnswer, gatherWrites } from './gather.ts';
import { joinSmallWrites } from './one-write.ts';
import { type StatusLines, watchStatusLines } from './status-lines.ts';

export type Connect = ReturnType<typeof buildConnector>;

export interface PoolOptions {
  /** Establishes the connections and so decides where they lead, independent of `name`. */
  readonly connect: Connect;
  /** Milliseconds for which a connection takes new requests; those under way go on. Default: no limit. */
  readonly connectionAge?: number;
  /** Called with every connection once it is established. */
  readonly onConnection?: (socket: Socket) => void;
}

/**
 * Opens a pool for the origin `name`, e.g. `http://app.example`, which becomes the `Host` of every request; undici would
 * have to parse one in each header list. Bodies have no time limit, for streams and long polls.
 */
export function openPool(name: string, { connect, connectionAge, onConnection }: PoolOptions): Pool {
  return new Pool(name, {
    bodyTimeout: 0,
    pipelining: 1,
    ...(connectionAge === undefined ? {} : { clientTtl: connectionAge }),
    factory: (origin, options: Client.Options) => new WatchedClient(origin, options, { connect, onConnection }),
  });
}

/** One connection of a pool at a time. */
class WatchedClient extends Client {
  readonly #connection: { statusLines: StatusLines | null };

  constructor(
    origin: string | URL,
    options: Client.Options,
    { connect, onConnection }: { connect: Connect; onConnection: PoolOptions['onConnection'] },
  ) {
    const connection: { statusLines: StatusLines | null } = { statusLines: null };
    super(origin, {
      ...options,
      connect(target, callback) {
        connect(target, (...[error, socket]) => {
          if (error !== null) {
            callback(error, null);
            return;
          }
          joinSmallWrites(socket);
          gatherWrites(socket);
          connection.statusLines = watchStatusLines(socket);
          onConnection?.(socket);
          callback(null, socket);
        });
      },
    });
    this.#connection = connection;
  }

  /** For every reader: the begin of each answer is checked, not of the first on a connection only. */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const connection = this.#connection;
    gatherAnswer(handler);
    const { onRequestStart, onRequestUpgrade, onResponseData } = handler;
    handler.onRequestStart = (...start) => {
      connection.statusLines?.expect();
      onRequestStart?.apply(handler, start);
    };
    handler.onResponseData = (controller, chunk) => {
      connection.statusLines?.passed(chunk.length);
      onResponseData?.call(handler, controller, chunk);
    };
    if (onRequestUpgrade !== undefined)
      handler.onRequestUpgrade = (...upgrade) => {
        connection.statusLines?.end();
        onRequestUpgrade.apply(handler, upgrade);
      };
    return super.dispatch(options, handler);
  }
}
