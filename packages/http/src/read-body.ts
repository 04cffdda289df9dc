// Reads bodies within limits of size and time. These functions do not destroy the request, so that the refusal they
// throw can still be sent.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, type RefusalError, refuse, sizeText } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import { endLingering, endReading } from './end-response.ts';
import { isHeldBack } from './gather.ts';
import { sendProblem } from './problem.ts';

export interface BodyLimits {
  /** Bytes. */
  readonly limit: number;
  /** Time limit for the whole body. */
  readonly milliseconds: number;
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * Reads the whole body; never holds more than `limit` bytes.
 *
 * @throws RefusalError `payload_too_large`, or `invalid_request` for one that did not arrive in time; Error when the
 *   caller went away
 */
export async function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const pile = new Pile();
  let first: Buffer | null = null;
  await receiveBody(req, limits, (chunk) => {
    // Mostly the whole body is one piece.
    if (first === null && pile.length === 0) {
      first = chunk;
      return undefined;
    }
    if (first !== null) pile.add(first);
    first = null;
    pile.add(chunk);
    return undefined;
  });
  return first ?? pile.take();
}

/**
 * Hands the body on as it arrives. While `take` waits nothing more is read.
 *
 * @throws RefusalError as `readBody`; Error when the caller went away, or what `take` throws
 */
export function receiveBody(
  req: IncomingMessage,
  { limit, milliseconds }: BodyLimits,
  take: (chunk: Buffer) => Promise<void> | undefined,
): Promise<void> {
  const tooLarge = (): RefusalError => refuse('payload_too_large', `The body may have at most ${sizeText(limit)}.`);
  return new Promise((resolve, reject) => {
    if (Number(req.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge());
      return;
    }
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) {
        fail(tooLarge());
        return;
      }
      const taken = take(chunk);
      if (taken === undefined) return;
      req.pause();
      taken.then(() => req.resume(), fail);
    };
    const onEnd = (): void => {
      release();
      resolve();
    };
    const fail = (error: Error): void => {
      release();
      reject(error);
    };
    const onClose = (): void => fail(new Error('aborted'));
    const release = (): void => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('error', fail).off('close', onClose);
    };
    const timer = setTimeout(
      () => fail(refuse('invalid_request', `The body did not arrive within ${milliseconds / 1_000} s.`)),
      milliseconds,
    );
    req.on('data', onData).on('end', onEnd).on('error', fail).on('close', onClose);
  });
}

/** How long an upload may be slower than the minimum rate. */
const WINDOW_MS = 10_000;

/**
 * Ends the exchange with `invalid_request` when an upload that is being read arrives more slowly than `bytesPerSecond`
 * for ten seconds. Time in which its reader was the slower side does not count.
 */
export function requireUploadRate(req: IncomingMessage, res: ServerResponse, bytesPerSecond: number): void {
  let before = arrivedOf(req);
  const timer = setInterval(() => {
    const now = arrivedOf(req);
    const arrived = now - before;
    before = now;
    if (req.readableLength > 0 || isHeldBack(req) || arrived >= (bytesPerSecond * WINDOW_MS) / 1_000) return;
    clearInterval(timer);
    const detail = `The upload is too slow: at least ${sizeText(bytesPerSecond)} must arrive each second.`;
    endUpload(res, { code: 'invalid_request', detail });
  }, WINDOW_MS);
  const stop = (): void => clearInterval(timer);
  req.once('end', stop).once('close', stop);
}

/** Bytes that arrived; where others arrive on the same connection (HTTP/2), those of this request alone. */
function arrivedOf(req: IncomingMessage): number {
  return 'bytesArrived' in req && typeof req.bytesArrived === 'number' ? req.bytesArrived : req.socket.bytesRead;
}

/** Refuses an upload that is still being read, and ends its connection; its reader gets an error. */
export function endUpload(res: ServerResponse, refusal: Refusal): void {
  if (res.headersSent) return;
  endReading(res);
  sendProblem(res, refusal, { close: true });
  endLingering(res);
}
