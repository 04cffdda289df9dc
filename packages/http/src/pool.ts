// Connections to an upstream for carrying: one request at a time on each, small messages in one write, and the begin of
// every answer checked.
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { Exchange } from './carry.ts';
import { joinSmallWrites } from './one-write.ts';
import { type StatusLines, watchStatusLines } from './status-lines.ts';

export type Connect = ReturnType<typeof buildConnector>;

export interface PoolOptions {
  /** Makes the connections: where they lead is decided here, whatever name is spoken to. */
  readonly connect: Connect;
  /** Sees every connection once it stands. */
  readonly onConnection?: (socket: Socket) => void;
}

/**
 * Opens a pool that speaks to `name`, e.g. `http://app.example`, which becomes the `Host`: undici would parse a Host
 * header that each request brings. No limit on a body, for streams and long polls.
 */
export function openPool(name: string, { connect, onConnection }: PoolOptions): Pool {
  return new Pool(name, {
    bodyTimeout: 0,
    pipelining: 1,
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
          connection.statusLines = watchStatusLines(socket);
          onConnection?.(socket);
          callback(null, socket);
        });
      },
    });
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Exchange) handler.connection = this.#connection;
    return super.dispatch(options, handler);
  }
}
