// One live stream of notifications. Signals only wake it: what it sends it reads from the database in order of
// sequence, so nothing is lost, doubled or held in memory for a slow reader.
import type { ServerResponse } from 'node:http';
import type { ShellEvent } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { EventConnection, type StreamTiming } from '../http/event-connection.ts';
import type { AccountChange, Listener, StreamCaller } from './event-hub.ts';
import { lastRead, listAfter, notificationOf, onlyVisible, type Visibility } from './queries.ts';

export interface StreamStart {
  /** Sequence after which notifications are sent. */
  readonly position: string;
  /** The client reconnected: it also gets events for what may have changed meanwhile. */
  readonly resumed: boolean;
}

const PAGE = 100;
const READ_ON_RESUME = 200;

export class EventStream implements Listener {
  readonly caller: StreamCaller;
  readonly #context: CoreContext;
  readonly #visibility: Visibility;
  readonly #connection: EventConnection;
  #position = '0';
  #read: string[] = [];
  /** Changes that are not sent yet. */
  #changes = new Set<AccountChange>();
  #running = false;
  #again = false;

  constructor(context: CoreContext, caller: StreamCaller, visibility: Visibility, response: ServerResponse) {
    this.#context = context;
    this.caller = caller;
    this.#visibility = visibility;
    this.#connection = new EventConnection(response);
  }

  /** Begins to send; headers and status must be set. The stream ends with its caller, its life or its connection. */
  start({ position, resumed }: StreamStart, timing: StreamTiming): void {
    this.#position = position;
    const left = 'expiresAt' in this.caller ? this.caller.expiresAt.getTime() - this.#context.clock().getTime() : null;
    this.#connection.open(timing, { id: position, leftMilliseconds: left });
    if (resumed && this.caller.kind === 'session')
      this.#changes = new Set(['apps', 'runtime', 'notification-settings']);
    this.#run(async () => {
      if (resumed) await this.#sendRead(await this.#lastRead(position));
    });
  }

  wake(): void {
    this.#run();
  }

  notificationsRead(ids: readonly string[]): void {
    this.#read.push(...ids);
    this.#run();
  }

  changed(what: AccountChange): void {
    this.#changes.add(what);
    this.#run();
  }

  /** Bound, so that it can be handed on. */
  readonly end = (): void => this.#connection.end();

  /** Also true before `start`, when the caller ended while the stream was made ready. */
  get ended(): boolean {
    return this.#connection.ended;
  }

  /** One round at a time; what comes meanwhile makes another one. */
  #run(first?: () => Promise<void>): void {
    this.#again = true;
    if (this.#running || !this.#connection.isOpen) return;
    this.#running = true;
    this.#rounds(first).catch((error: unknown) => {
      if (!this.ended) this.#context.log.warn({ err: error }, 'a live stream ended early');
      this.end();
    });
  }

  async #rounds(first?: () => Promise<void>): Promise<void> {
    try {
      await first?.();
      while (this.#again && !this.ended) {
        this.#again = false;
        const read = this.#read.splice(0);
        const changes = this.#changes;
        this.#changes = new Set();
        // First what is new: it may be among what was read.
        await this.#sendNew();
        await this.#sendRead(await this.#visible(read));
        for (const event of changes) await this.#send({ event, data: {} });
      }
    } finally {
      this.#running = false;
    }
  }

  async #sendNew(): Promise<void> {
    const { pool } = this.#context;
    for (let more = true; more && !this.ended; ) {
      const page = { after: this.#position, limit: PAGE };
      const rows = await listAfter(pool, this.#visibility, page);
      for (const row of rows) {
        if (this.ended) return;
        await this.#send({ event: 'notification', data: { notification: notificationOf(row) } }, row.sequence);
        this.#position = row.sequence;
      }
      more = rows.length === PAGE;
    }
  }

  async #sendRead(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#send({ event: 'notifications-read', data: { ids: [...ids] } });
  }

  async #visible(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0 || this.#visibility.topics === null) return ids;
    return await onlyVisible(this.#context.database, this.#visibility, ids);
  }

  #lastRead(position: string): Promise<string[]> {
    const page = { upTo: position, limit: READ_ON_RESUME };
    return lastRead(this.#context.database, this.#visibility, page);
  }

  #send(event: ShellEvent, id?: string): Promise<void> {
    return this.#connection.send(event, id);
  }
}
