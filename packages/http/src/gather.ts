// Small pieces of a stream are put together: a piece of one byte costs an object of hundreds, so that a sender who cuts a
// stream into single bytes would make each buffer on its way many times as large as its limit, which counts bytes. What comes in few
// pieces passes as it is, at once.
import type { Duplex, Readable } from 'node:stream';
import { Pile } from '@platform/contract/pile';
import type { Dispatcher } from 'undici';

/** A piece of this size is not put together with others. */
const LARGE_BYTES = 4 * 1024;
/** Small pieces that pass as they are: of a stream that is read, or that wait to be written. */
const FREE_PIECES = 16;

/**
 * Puts the small pieces together that are pushed to `stream`: those of one turn of the event loop, and those that wait for
 * a reader.
 */
export function gatherPieces(stream: Readable): void {
  const push = stream.push.bind(stream);
  const read = stream.read.bind(stream);
  const pile = new Pile();
  let free = FREE_PIECES;
  let isScheduled = false;

  const flush = (): boolean => pile.length === 0 || push(pile.take());
  // While pieces wait in front of these, a reader calls `read`.
  const endTurn = (): void => {
    isScheduled = false;
    if (stream.readableLength === 0 && !stream.destroyed) flush();
  };

  stream.push = (chunk: Uint8Array | null) => {
    if (chunk === null || chunk.length >= LARGE_BYTES) {
      flush();
      return push(chunk);
    }
    if (pile.length === 0 && free > 0) {
      free -= 1;
      return push(chunk);
    }
    pile.add(chunk);
    if (pile.length >= LARGE_BYTES) return flush();
    if (!isScheduled) {
      isScheduled = true;
      // A tick ends with each piece that Node's parser of HTTP hands over.
      setImmediate(endTurn);
    }
    return stream.readableLength + pile.length < stream.readableHighWaterMark;
  };
  // Node itself calls `read(0)`, to have more arrive.
  stream.read = (size?: number) => {
    if (size !== 0 || stream.readableLength === 0) flush();
    return read(size);
  };
}

/** Puts the small pieces together that are written to `stream` while others wait to leave. */
export function gatherWrites(stream: Duplex): void {
  const write = stream.write.bind(stream) as (chunk: unknown, encoding?: unknown, done?: unknown) => boolean;
  const end = stream.end.bind(stream) as (...rest: unknown[]) => Duplex;
  const pile = new Pile();
  let free = FREE_PIECES;
  /** A piece is on its way; when it has left, those gathered since follow. */
  let isGathering = false;
  let owesDrain = false;

  function flush(): void {
    if (pile.length > 0) write(pile.take());
  }

  function gather(chunk: unknown, encoding: unknown): boolean {
    isGathering = true;
    return write(chunk, encoding, (error?: Error | null) => {
      isGathering = false;
      if (error || stream.destroyed) return;
      if (pile.length > 0) gather(pile.take(), undefined);
      if (!owesDrain || stream.writableNeedDrain) return;
      owesDrain = false;
      stream.emit('drain');
    });
  }

  function take(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    const isText = typeof chunk === 'string' && (encoding === undefined || typeof encoding === 'string');
    const isSmall = (isText || chunk instanceof Uint8Array) && chunk.length < LARGE_BYTES;
    if (!isSmall || typeof encoding === 'function' || typeof done === 'function' || stream.writableEnded) {
      flush();
      return write(chunk, encoding, done);
    }
    if (!isGathering) {
      if (stream.writableLength === 0) free = FREE_PIECES;
      free -= 1;
      return free >= 0 ? write(chunk, encoding) : gather(chunk, encoding);
    }
    pile.add(typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding | undefined) : chunk);
    if (pile.length >= LARGE_BYTES) flush();
    if (stream.writableNeedDrain) return false;
    if (stream.writableLength + pile.length < stream.writableHighWaterMark) return true;
    owesDrain = true;
    return false;
  }
  stream.write = take as Duplex['write'];
  stream.end = ((...rest: unknown[]) => {
    flush();
    return end(...rest);
  }) as Duplex['end'];
}

/** Puts the small pieces of an answer's body together that are read in one turn of the event loop. */
export function gatherAnswer(handler: Dispatcher.DispatchHandler): void {
  const { onResponseData, onResponseEnd, onResponseError } = handler;
  const pile = new Pile();
  let free = FREE_PIECES;
  let isOver = false;

  function flush(controller: Dispatcher.DispatchController): void {
    if (pile.length > 0) onResponseData?.call(handler, controller, pile.take());
  }

  function endTurn(controller: Dispatcher.DispatchController): void {
    if (isOver || controller.aborted) return;
    try {
      flush(controller);
    } catch (error) {
      controller.abort(error instanceof Error ? error : new Error('not an error'));
    }
  }

  handler.onResponseData = (controller, chunk) => {
    if (chunk.length >= LARGE_BYTES || (pile.length === 0 && free > 0)) {
      flush(controller);
      if (chunk.length < LARGE_BYTES) free -= 1;
      onResponseData?.call(handler, controller, chunk);
      return;
    }
    if (pile.length === 0) process.nextTick(endTurn, controller);
    pile.add(chunk);
    // While the reader is behind, what is parsed stops here.
    if (pile.length >= LARGE_BYTES) flush(controller);
  };
  handler.onResponseEnd = (controller, trailers) => {
    isOver = true;
    flush(controller);
    onResponseEnd?.call(handler, controller, trailers);
  };
  handler.onResponseError = (controller, error) => {
    isOver = true;
    onResponseError?.call(handler, controller, error);
  };
}
