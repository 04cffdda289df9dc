// Ends a response: in one write where the body is small, and without losing it when the request is still being sent.
import type { ServerResponse } from 'node:http';

/** Milliseconds for which the rest of a request's body is read and discarded before its response ends regardless. */
const LINGER_MS = 2_000;

/** Up to here a copy costs less than a second buffer in the write. */
const ONE_WRITE_BYTES = 16 * 1024;

/** Written answers that wait for the rest of their request, each with the function that ends it. */
const lingering = new WeakMap<ServerResponse, () => void>();

/**
 * Writes `body`, if any, and ends `res`. Closing the connection while the request's body still arrives would reset it
 * and lose the answer, so the rest of that body is read and discarded first (RFC 9112 section 9.6).
 */
export function endResponse(res: ServerResponse, body: Buffer | null): void {
  const { req } = res;
  if (!req.complete && !req.readableEnded) {
    endAfterRequest(res, body);
    return;
  }
  if (body === null) res.end();
  // Node joins a head and a string of the same encoding; latin1 keeps every byte as it is.
  else if (body.length <= ONE_WRITE_BYTES) res.end(body.toString('latin1'), 'latin1');
  else res.end(body);
}

/** A part of Node's that its types lack. */
interface Sending {
  _send?(data: string, encoding: BufferEncoding): boolean;
}

/** Sends the head of an answer alone. Node's `flushHeaders` does it as UTF-8, which changes every byte beyond ASCII. */
export function flushHead(res: ServerResponse & Sending): void {
  if (!res.headersSent) res.writeHead(res.statusCode);
  if (res._send === undefined) res.flushHeaders();
  else res._send('', 'latin1');
}

/** Ends an answer that waits for the rest of its request. @returns false for one that is not written yet */
export function endLingering(res: ServerResponse): boolean {
  const end = lingering.get(res);
  end?.();
  return end !== undefined;
}

/**
 * Ends the request of an answer that was written while a handler still reads its body: the handler gets the error that
 * Node gives it for a lost connection. Once the answer has been sent, since the connection ends with it.
 */
export function endReading(res: ServerResponse): void {
  res.once('close', () => res.req.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })));
}

function endAfterRequest(res: ServerResponse, body: Buffer | null): void {
  const { req } = res;
  if (body === null) flushHead(res);
  else res.write(body);
  const end = (): void => {
    lingering.delete(res);
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  lingering.set(res, end);
  req.once('end', end);
  res.once('close', () => clearTimeout(timer));
  req.unpipe();
  req.resume();
}
