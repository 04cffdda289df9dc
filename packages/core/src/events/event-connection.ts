// The connection under a live stream (text/event-stream; HTML, "Server-sent events"): its head, keep-alive comments,
// backpressure and end. The caller decides which events are sent.
import type { ServerResponse } from 'node:http';
import { limits } from '@platform/contract';
import type { FastifyReply } from 'fastify';

export interface StreamTiming {
  /** Between comments that keep the connection alive; a reader that takes nothing for two of them is dropped. */
  readonly heartbeatMilliseconds: number;
  /** The longest life of a stream. */
  readonly lifeMilliseconds: number;
}

export const usualTiming: StreamTiming = {
  heartbeatMilliseconds: 15_000,
  lifeMilliseconds: limits.eventStreamSeconds.value * 1000,
};

/** What a browser waits before it comes back. */
const RETRY_MILLISECONDS = 1_000;

/** Takes over the reply and writes its head. */
export function beginEventStream(reply: FastifyReply): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // For proxies in front that would hold events back.
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
}

export class EventConnection {
  readonly #response: ServerResponse;
  readonly #over = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #state: 'new' | 'open' | 'ended' = 'new';
  /** Whether the reader took something since the last heartbeat. */
  #progress = true;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /**
   * Begins to send; head and status must be written. `id` is where the reader is before the first event.
   *
   * @param leftMilliseconds what is left of the caller's own life, if it has an end
   */
  open(timing: StreamTiming, start: { readonly id: string | null; readonly leftMilliseconds: number | null }): void {
    this.#state = 'open';
    const life = Math.max(0, Math.min(timing.lifeMilliseconds, start.leftMilliseconds ?? timing.lifeMilliseconds));
    this.#timers.push(setInterval(() => this.#beat(), timing.heartbeatMilliseconds));
    this.#timers.push(setTimeout(() => this.end(), life));
    this.#response.once('close', this.end);
    // An id without data is no event, but from now on the client knows where it is.
    const id = start.id === null ? '' : `id: ${start.id}\n`;
    this.#response.write(`retry: ${RETRY_MILLISECONDS}\n${id}\n`);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Also true before `open`, when the caller ended while the stream was made ready. */
  get ended(): boolean {
    return this.#state === 'ended' || this.#response.destroyed;
  }

  /** Aborted when the stream ends. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Bound, so that it can be handed on. */
  readonly end = (): void => {
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    for (const timer of this.#timers) clearTimeout(timer);
    this.#over.abort();
    if (!wasOpen) return;
    // A reader that takes nothing would keep the connection for ever; it resumes elsewhere.
    if (this.#response.writableNeedDrain) this.#response.destroy();
    else this.#response.end();
  };

  /** Waits until the reader has taken enough for more, so nothing piles up here. */
  async send({ event, data }: { readonly event: string; readonly data: unknown }, id?: string): Promise<void> {
    if (this.ended) return;
    const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    if (this.#response.write(text) || this.ended) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.once('drain', resolve).once('close', resolve);
    await promise;
    this.#progress = true;
    this.#response.off('drain', resolve).off('close', resolve);
  }

  #beat(): void {
    if (!this.#response.writableNeedDrain) this.#response.write(': alive\n\n');
    else if (!this.#progress) this.end();
    this.#progress = false;
  }
}
