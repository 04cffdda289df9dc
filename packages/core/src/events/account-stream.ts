// One live stream of the events of an account. Signals only wake it: what it sends it reads from the database as fast as
// its reader takes it, so nothing is lost, doubled or held in memory for a slow reader.
import type { CoreContext } from '../context.ts';
import type { AccountCaller } from '../http/caller.ts';
import type { Emission, EventName, Sent } from './emission.ts';
import type { EventConnection } from './event-connection.ts';
import type { Listener } from './live-streams.ts';

export interface StreamStart {
  /** The id after which events are sent. */
  readonly position: string;
  /** The client reconnected: it also gets events for what may have changed meanwhile. */
  readonly resumed: boolean;
}

export interface AccountStreamParts {
  readonly context: Pick<CoreContext, 'log'>;
  readonly caller: AccountCaller;
  /** What it sends, each event from one of them or from several without `read`. */
  readonly emissions: readonly Emission[];
  readonly connection: EventConnection;
}

interface Pending {
  readonly emission: Emission;
  readonly held: string[];
}

export class AccountStream implements Listener {
  readonly caller: AccountCaller;
  readonly #parts: AccountStreamParts;
  #position = '0';
  /** What is not sent yet, one entry for an event. */
  #pending = new Map<EventName, Pending>();
  #running = false;
  #again = false;

  constructor(parts: AccountStreamParts) {
    this.#parts = parts;
    this.caller = parts.caller;
  }

  /** Begins to send; the connection must be open. The stream ends with its caller, its life or its connection. */
  start({ position, resumed }: StreamStart): void {
    this.#position = position;
    for (const emission of this.#parts.emissions) if (emission.read !== undefined || resumed) this.#pend(emission);
    this.#run(async () => {
      if (!resumed) return;
      for (const { event, missed } of this.#parts.emissions)
        if (missed !== undefined) await this.#sendAll(event, missed(this.#reader));
    });
  }

  receive(emission: Emission, data: object): void {
    this.#pend(emission).held.push(...(emission.holds?.(data) ?? []));
    this.#run();
  }

  /** Bound, so that it can be handed on. */
  readonly end = (): void => this.#parts.connection.end();

  get #reader() {
    return { caller: this.caller, position: this.#position };
  }

  #pend(emission: Emission): Pending {
    const pending = this.#pending.get(emission.event) ?? { emission, held: [] };
    this.#pending.set(emission.event, pending);
    return pending;
  }

  /** One round at a time; what comes meanwhile makes another one. */
  #run(first?: () => Promise<void>): void {
    const { connection, context } = this.#parts;
    this.#again = true;
    if (this.#running || !connection.isOpen) return;
    this.#running = true;
    this.#rounds(first).catch((error: unknown) => {
      if (!connection.ended) context.log.warn({ err: error }, 'a live stream ended early');
      this.end();
    });
  }

  async #rounds(first?: () => Promise<void>): Promise<void> {
    try {
      await first?.();
      while (this.#again && !this.#parts.connection.ended) {
        this.#again = false;
        const pending = this.#pending;
        this.#pending = new Map();
        // In their order, and each once: of a notification, that it is there comes before that it was read.
        for (const { event } of this.#parts.emissions) {
          const one = pending.get(event);
          pending.delete(event);
          if (one !== undefined) await this.#send(one);
        }
      }
    } finally {
      this.#running = false;
    }
  }

  async #send({ emission, held }: Pending): Promise<void> {
    const { event, read } = emission;
    if (read === undefined) await this.#sendAll(event, [{ data: {} }]);
    else await this.#sendAll(event, read(this.#reader, held));
  }

  async #sendAll(event: EventName, all: Iterable<Sent> | AsyncIterable<Sent>): Promise<void> {
    const { connection } = this.#parts;
    for await (const { data, id } of all) {
      if (connection.ended) return;
      await connection.send({ event, data }, id);
      if (id !== undefined) this.#position = id;
    }
  }
}
