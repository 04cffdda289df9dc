// Signals between replicas over LISTEN/NOTIFY: what was revoked, what is new. One connection, re-made when it breaks.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type pg from 'pg';
import { ServerClient } from './servers.ts';

/** The data of each signal. Each domain adds its own in its signals.ts. */
// biome-ignore lint/suspicious/noEmptyInterface: every signals.ts adds to it
export interface SignalMap {}
export type SignalName = keyof SignalMap;

/** What a signals.ts owns, by the name of the signal; tests/structure/core-signals.test.ts compares it with the code. */
export type OwnedSignals = Readonly<
  Partial<Record<SignalName, { readonly sentBy?: Readonly<Record<string, string>> }>>
>;

/** The one channel of LISTEN and NOTIFY. */
export const SIGNAL_CHANNEL = 'platform_signals';

/**
 * Sends and receives signals. A signal sent inside a transaction is delivered when that commits, to every replica
 * including the sender. While the listening connection is down, `connected` is false and caches must not be used;
 * `reset` fires when it goes down and again when it is back.
 */
export class Signals {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #url: string;
  readonly #onError: (error: unknown) => void;
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;
  connected = false;

  constructor(url: string, onError: (error: unknown) => void) {
    this.#url = url;
    this.#onError = onError;
  }

  async start(): Promise<void> {
    const client = new ServerClient({
      connectionString: this.#url,
      application_name: 'platform-signals',
      keepAlive: true,
    });
    client.on('notification', ({ payload }) => {
      if (payload === undefined) return;
      const { name, data } = JSON.parse(payload) as { name: SignalName; data: object | null };
      this.#emitter.emit(name, data);
      for (const [member, value] of Object.entries(data ?? {}))
        if (typeof value === 'string') this.#emitter.emit(eventAbout(name, member, value), data);
    });
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the listening connection ended')));
    this.#client = client;
    await client.connect();
    await client.query(`LISTEN ${SIGNAL_CHANNEL}`);
    this.connected = true;
    this.#emitter.emit('reset');
  }

  #lost(client: pg.Client, error: unknown): void {
    if (this.#stopped || this.#client !== client) return;
    this.#client = undefined;
    this.connected = false;
    this.#emitter.emit('reset');
    this.#onError(error);
    client.end().catch(() => undefined);
    this.#reconnect();
  }

  #reconnect(): void {
    this.#retry = setTimeout(() => {
      if (this.#stopped) return;
      this.start().catch((error: unknown) => {
        this.#onError(error);
        this.#client = undefined;
        if (!this.#stopped) this.#reconnect();
      });
    }, 500);
  }

  on<Name extends SignalName>(name: Name, listener: (data: SignalMap[Name]) => void): () => void {
    this.#emitter.on(name, listener);
    return () => this.#emitter.off(name, listener);
  }

  /**
   * As `on`, for the signals alone whose data has this value as this member. Many may listen so: a signal costs those
   * nothing that it is not about.
   */
  onAbout<Name extends SignalName>(
    name: Name,
    member: string,
    value: string,
    listener: (data: SignalMap[Name]) => void,
  ): () => void {
    const event = eventAbout(name, member, value);
    this.#emitter.on(event, listener);
    return () => this.#emitter.off(event, listener);
  }

  onReset(listener: () => void): () => void {
    this.#emitter.on('reset', listener);
    return () => this.#emitter.off('reset', listener);
  }

  /**
   * Resolves when this replica has received every signal committed before this call, so that a request that revokes
   * answers only after the local caches are invalidated. At once while the connection is down, when caches are not used
   * anyway; after `limitMilliseconds` at the latest.
   */
  async settled(pool: pg.Pool, limitMilliseconds = 2_000): Promise<void> {
    if (!this.connected) return;
    const marker = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    const finish = () => resolve();
    this.#emitter.once(`marker:${marker}`, finish);
    this.#emitter.once('reset', finish);
    const timer = setTimeout(finish, limitMilliseconds);
    try {
      await pool.query('SELECT pg_notify($1, $2)', [
        SIGNAL_CHANNEL,
        JSON.stringify({ name: `marker:${marker}`, data: null }),
      ]);
      await promise;
    } finally {
      clearTimeout(timer);
      this.#emitter.off(`marker:${marker}`, finish);
      this.#emitter.off('reset', finish);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.connected = false;
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }
}

function eventAbout(name: string, member: string, value: string): string {
  return `${name} ${member} ${value}`;
}

/** The statement that sends a signal; run it in the transaction that it reports. */
export function notifyStatement<Name extends SignalName>(
  name: Name,
  data: SignalMap[Name],
): { text: string; values: string[] } {
  return { text: 'SELECT pg_notify($1, $2)', values: [SIGNAL_CHANNEL, JSON.stringify({ name, data })] };
}
