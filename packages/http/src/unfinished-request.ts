// Requests whose answer is there before their body.
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * A client that waits for `100 Continue` and gets its answer instead may send the body or not: what follows could be either,
 * so that the connection ends.
 */
export function closeUnlessContinued(res: ServerResponse): void {
  const { shouldKeepAlive } = res;
  const writeContinue = res.writeContinue.bind(res);
  res.shouldKeepAlive = false;
  res.writeContinue = (...done) => {
    res.shouldKeepAlive = shouldKeepAlive;
    writeContinue(...done);
  };
}

/**
 * Ends the connection of a request that has its answer and never comes to its end: no reader times it any more.
 *
 * @param milliseconds that its rest may still take
 */
export function endUnread(req: IncomingMessage, milliseconds: number): void {
  const { socket } = req;
  const timer = setTimeout(() => {
    if (!req.complete) socket.destroy();
  }, milliseconds);
  socket.once('close', () => clearTimeout(timer));
  req.once('end', () => clearTimeout(timer));
}
