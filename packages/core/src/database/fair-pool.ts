// A pool that hands out its connections to callers in turn: one that asks for many at once waits behind itself, and the
// others wait for one of its queries at most.
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { untilNoDeadlock } from './until-no-deadlock.ts';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

interface Waiting {
  readonly connected: Connected;
  readonly late: NodeJS.Timeout;
}

/** Instead of a wait for a database that hangs; the class of SQLSTATE for connections that failed. */
export class SilentDatabaseError extends Error {
  readonly code = '08006';
  constructor() {
    super('PostgreSQL does not answer.');
  }
}

const callers = new AsyncLocalStorage<{ name: string }>();
/** What nobody asked for: background work. */
const ITSELF = '';

/** Connections that `work` takes are taken for this caller. */
export function onBehalfOf<Result>(caller: string, work: () => Result): Result {
  return callers.run({ name: caller }, work);
}

/** From here on the connections of the current work are taken for this caller, who has been found out meanwhile. */
export function nowOnBehalfOf(caller: string): void {
  const current = callers.getStore();
  if (current !== undefined) current.name = caller;
}

export class FairPool extends pg.Pool {
  readonly #most: number;
  readonly #patience: number;
  /** Callers in the order in which they are served next. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #connected = new Set<pg.PoolClient>();
  #held = 0;
  #isSilent = false;

  constructor(config: pg.PoolConfig & { readonly max: number; readonly connectionTimeoutMillis: number }) {
    super(config);
    this.#most = config.max;
    this.#patience = config.connectionTimeoutMillis;
    this.on('release', () => this.#ended());
    this.on('connect', (client) => this.#connected.add(client));
    this.on('remove', (client) => this.#connected.delete(client));
  }

  /** A statement outside of any transaction begins anew where PostgreSQL ended it to resolve a deadlock. */
  override readonly query = ((...statement: unknown[]) => {
    const once = () => Reflect.apply(super.query, this, statement);
    const isPlain = typeof statement.at(-1) !== 'function' && !(statement[0] instanceof pg.Query);
    return isPlain ? untilNoDeadlock(once) : once();
  }) as pg.Pool['query'];

  /** From now on every query fails at once, as do those that wait or run: their connections are dropped. */
  refuse(): void {
    this.#isSilent = true;
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { connected, late } of waiting) {
      clearTimeout(late);
      connected(new SilentDatabaseError(), undefined, () => undefined);
    }
    this.reconnect();
  }

  /** Drops every connection; what runs on one fails. The next ones lead to the server that is current then. */
  reconnect(): void {
    for (const client of this.#connected) client.connection.stream.destroy();
  }

  /** Ends `refuse`. */
  serve(): void {
    this.#isSilent = false;
  }

  /** Queries and transactions that wait for a connection. */
  get awaited(): number {
    return [...this.#waiting.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    if (connected === undefined)
      return new Promise((resolve, reject) =>
        this.#take((error, client) => (client === undefined ? reject(error) : resolve(client))),
      );
    this.#take(connected);
    return undefined;
  }

  #take(connected: Connected): void {
    if (this.#isSilent) {
      // Never within the call, as with any other connection.
      queueMicrotask(() => connected(new SilentDatabaseError(), undefined, () => undefined));
      return;
    }
    if (this.#held < this.#most || this.ending) {
      this.#begin(connected);
      return;
    }
    const caller = callers.getStore()?.name ?? ITSELF;
    const late = setTimeout(() => this.#giveUp(caller, own), this.#patience).unref();
    const own: Waiting = { connected, late };
    const queue = this.#waiting.get(caller);
    if (queue === undefined) this.#waiting.set(caller, [own]);
    else queue.push(own);
  }

  #begin(connected: Connected): void {
    this.#held += 1;
    super.connect((error, client, release) => {
      if (client === undefined) this.#ended();
      connected(error, client, release);
    });
  }

  #ended(): void {
    this.#held -= 1;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [caller, queue] = first;
    const next = queue.shift();
    // The caller that was served last comes last.
    this.#waiting.delete(caller);
    if (queue.length > 0) this.#waiting.set(caller, queue);
    if (next === undefined) return;
    clearTimeout(next.late);
    this.#begin(next.connected);
  }

  #giveUp(caller: string, own: Waiting): void {
    const queue = this.#waiting.get(caller) ?? [];
    queue.splice(queue.indexOf(own), 1);
    if (queue.length === 0) this.#waiting.delete(caller);
    own.connected(new Error('timeout exceeded when trying to connect'), undefined, () => undefined);
  }
}
