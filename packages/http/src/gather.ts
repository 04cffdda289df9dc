// Small pieces of a stream are put together: a piece of one byte costs an object of hundreds, so that a sender who cuts a
// stream into single bytes would make each buffer on its way many times as large as its limit, which counts bytes. Where a parser
// cuts them out of what is read at once, it is read the more slowly the more pieces there are (`PieceCount`). What comes in few
// pieces passes as it is, at once.
import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { Pile } from '@platform/contract/pile';
import type { Dispatcher } from 'undici';
import { PieceCount, pieceShare } from './piece-count.ts';
import type { ThreadShare } from './thread-share.ts';

/** A piece of this size is not put together with others. */
const LARGE_BYTES = 4 * 1024;
/** Small pieces that pass as they are: of a stream that is read, or that wait to be written. */
const FREE_PIECES = 16;
/** After so many of a request, it is asked whether more may be read. */
const PIECES_AT_ONCE = 1_024;
/** Of an answer: more than undici reads at once, since each pause in what was read lets it read more. */
const PIECES_OF_ANSWER = 16 * 1_024;

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

/** How a body is read whose pieces are counted. */
export interface PacedReading {
  /** It had so many pieces that it was held back. */
  wasHeld(): boolean;
}

const heldBack = new WeakSet<IncomingMessage>();

/** Whether the body waits for its turn: that it does not arrive meanwhile is not its sender's doing. */
export function isHeldBack(req: IncomingMessage): boolean {
  return heldBack.has(req);
}

/**
 * Reads a body the more slowly the more pieces it comes in; after `gatherPieces`.
 *
 * @param waits whether it waits for its turn from the beginning, while others do
 */
export function paceReading(req: IncomingMessage, share: ThreadShare = pieceShare, waits = true): PacedReading {
  const count = new PieceCount();
  const push = req.push.bind(req);
  const read = req._read.bind(req);
  let isHeld = false;
  let wasHeld = false;

  const hold = (size: number, first = false): void => {
    isHeld = true;
    wasHeld = true;
    heldBack.add(req);
    share.take(() => {
      isHeld = false;
      heldBack.delete(req);
      if (!req.destroyed) read(size);
    }, first);
  };
  req.push = (chunk: Uint8Array | null) => {
    if (chunk !== null && chunk.length < LARGE_BYTES) count.add();
    return push(chunk) && !isHeld && count.recent < PIECES_AT_ONCE;
  };
  req._read = (size: number) => {
    if (isHeld) return;
    if (count.areTooMany()) hold(size);
    else read(size);
  };
  // Each new body may be as bad as the others: it is read when it is its turn, before those that are known.
  if (waits && share.isBusy) {
    req.socket.pause();
    hold(0, true);
  }
  return { wasHeld: () => wasHeld };
}

/**
 * Puts the small pieces of an answer's body together that are read in one turn of the event loop, and reads it the more slowly
 * the more there are.
 */
export function gatherAnswer(handler: Dispatcher.DispatchHandler, share: ThreadShare = pieceShare): void {
  const { onResponseStart, onResponseData, onResponseEnd, onResponseError } = handler;
  const count = new PieceCount();
  const pile = new Pile();
  let free = FREE_PIECES;
  let isOver = false;
  let hold: () => void = () => undefined;

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

  handler.onResponseStart = (controller, ...head) => {
    hold = holding(controller, share);
    onResponseStart?.call(handler, controller, ...head);
  };
  handler.onResponseData = (controller, chunk) => {
    if (chunk.length < LARGE_BYTES) {
      count.add();
      if (count.recent >= PIECES_OF_ANSWER && count.areTooMany()) hold();
    }
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

/** @returns what pauses the answer until it is its turn, whatever its reader says meanwhile */
function holding(controller: Dispatcher.DispatchController, share: ThreadShare): () => void {
  const pause = controller.pause.bind(controller);
  const resume = controller.resume.bind(controller);
  let isHeld = false;
  let isPaused = false;
  controller.pause = () => {
    isPaused = true;
    pause();
  };
  controller.resume = () => {
    isPaused = false;
    if (!isHeld) resume();
  };
  const goOn = (): void => {
    isHeld = false;
    if (!isPaused && !controller.aborted) resume();
  };
  return () => {
    if (isHeld) return;
    isHeld = true;
    pause();
    share.take(goOn);
  };
}
