// Signals between replicas over LISTEN/NOTIFY: what was revoked, what is new. One connection, re-made when it breaks.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import pg from 'pg';

export interface SignalMap {
  /** Grants, version or existence of an installation changed: forget what is cached of it. */
  'installation-changed': { installationId: string; accountKey: string };
  /** The account chose another home screen. */
  'launcher-changed': { accountKey: string };
  /** A session ended (or all of an account, when `sessionId` is null). */
  'session-ended': { accountKey: string; sessionId: string | null };
  /** The token of a command line ended. */
  'author-token-ended': { accountKey: string; tokenId: string };
  /** A workload start replaced the core service credential. */
  'credential-replaced': { installationId: string };
  /** A node started anew and has another credential. */
  'node-credential-replaced': { nodeId: string };
  /** The list of assignments has a new revision. */
  'assignments-changed': Record<string, never>;
  /** A follower has carried out this revision: a node of the assignments, an Ingress of the topology. */
  'carried-out': { follows: 'assignments' | 'topology'; followerId: string; revision: string };
  /** An Ingress has another credential, or was removed. */
  'ingress-credential-replaced': { ingressId: string };
  /** The topology of public names has a new revision. */
  'topology-changed': Record<string, never>;
  /** An account was paused or suspended, or no longer is. */
  'pause-changed': { accountKey: string };
  /** `sequence`: the newest of those that were published together. */
  'notification-published': { accountKey: string; sequence: string };
  'notification-settings-changed': { accountKey: string };
  /** The tiles of the home screen were arranged. */
  'home-changed': { accountKey: string };
  /** Web push messages wait in the outbox. */
  'push-queued': Record<string, never>;
  /** When a schedule is due changed, or runs wait for delivery. */
  'schedules-changed': Record<string, never>;
  /** Volumes or objects of deleted accounts wait for their deletion. */
  'data-abandoned': Record<string, never>;
  /** Pending external-index updates. */
  'search-queued': Record<string, never>;
  /** `ids` null: all of the account. */
  'notifications-read': { accountKey: string; ids: string[] | null };
}
export type SignalName = keyof SignalMap;

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
    const client = new pg.Client({
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
