// The body of an answer as a stream that is never far ahead of its reader: pieces are gathered, so that one byte in a piece
// of its own costs no more than in a large one, and the other side is held back before they are many.
import { Pile } from '@platform/contract/pile';

export interface Flow {
  pause(): void;
  resume(): void;
  /** The reader wants no more. */
  cancel(reason: unknown): void;
}

/**
 * Called with what was read since the last call, before it is handed over: its bytes, and 256 for each piece that they came
 * in. Nothing more is read until its promise resolves.
 */
export type Pace = (cost: number) => Promise<void> | undefined;

/** What may wait for the reader, as {@link Pace} counts. */
const MOST_COST = 64 * 1024;
const COST_OF_PIECE = 256;

export class GatheredBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #flow: Flow;
  readonly #pace: Pace;
  readonly #pile = new Pile();
  #cost = 0;
  #isPaused = false;
  #end: { readonly error: Error | null } | null = null;
  #isCancelled = false;
  #wake: () => void = () => undefined;

  constructor(flow: Flow, pace: Pace = () => undefined) {
    this.#flow = flow;
    this.#pace = pace;
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => this.#pull(controller),
        cancel: (reason) => {
          this.#isCancelled = true;
          flow.cancel(reason);
        },
      },
      // Nothing is taken from here before somebody asks for it.
      { highWaterMark: 0 },
    );
  }

  push(piece: Uint8Array): void {
    this.#pile.add(piece);
    this.#cost += piece.length + COST_OF_PIECE;
    if (this.#cost >= MOST_COST && !this.#isPaused) {
      this.#isPaused = true;
      this.#flow.pause();
    }
    this.#wake();
  }

  /** @param error why there is no more; `null` after a whole body */
  end(error: Error | null): void {
    this.#end ??= { error };
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#pile.length === 0 && this.#end === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    if (this.#isCancelled) return;
    if (this.#pile.length === 0) {
      const error = this.#end?.error ?? null;
      if (error === null) controller.close();
      else controller.error(error);
      return;
    }
    const bytes = this.#pile.take();
    const cost = this.#cost;
    this.#cost = 0;
    await this.#pace(cost);
    if (this.#isCancelled) return;
    controller.enqueue(bytes);
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow.resume();
  }
}
