// A live answer of lines: one at a time, so that what a slow reader has not taken waits in the database and not here, an
// empty line as a sign of life, and an end for a reader that takes nothing.
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

export interface LineTiming {
  /** Between empty lines; a reader that takes nothing for two of them is dropped. */
  readonly beatMilliseconds: number;
  /** What is left of the caller's own life. */
  readonly leftMilliseconds: number;
  /** Called at every beat that the reader took. */
  readonly beaten: () => void;
}

export class LineStream {
  readonly #response: ServerResponse;
  readonly #over = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Whether the reader took something since the last beat. */
  #progress = true;

  /** Takes over the reply and writes its head. */
  constructor(reply: FastifyReply, mediaType: string, timing: LineTiming) {
    this.#response = reply.raw;
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.writeHead(200, {
      'content-type': mediaType,
      'cache-control': 'no-store',
      // For proxies in front that would hold lines back.
      'x-accel-buffering': 'no',
    });
    reply.raw.flushHeaders();
    reply.raw.once('close', this.end);
    this.#timers.push(
      setInterval(() => this.#beat(timing.beaten), timing.beatMilliseconds),
      setTimeout(this.end, Math.max(0, timing.leftMilliseconds)),
    );
    if (reply.raw.destroyed) this.end();
  }

  /** Aborted when the stream ends. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Waits until the reader has taken enough for more. */
  async write(line: unknown): Promise<void> {
    if (this.over.aborted || this.#response.write(`${JSON.stringify(line)}\n`) || this.over.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.once('drain', resolve);
    this.over.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.#progress = true;
    this.#response.off('drain', resolve);
  }

  /** Bound, so that it can be handed on. */
  readonly end = (): void => {
    if (this.over.aborted) return;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#over.abort();
    // A reader that takes nothing would keep the connection for ever; it resumes elsewhere.
    if (this.#response.writableNeedDrain) this.#response.destroy();
    else this.#response.end();
  };

  #beat(beaten: () => void): void {
    if (!this.#response.writableNeedDrain) {
      this.#response.write('\n');
      beaten();
    } else if (!this.#progress) this.end();
    this.#progress = false;
  }
}
