// Two connections as one: bytes pass both ways with back-pressure, and each end may finish sending on its own.
import type { Socket } from 'node:net';

export interface JoinOptions {
  /** Milliseconds without a byte in either direction after which both end. Default: none. */
  readonly idle?: number;
}

/** Both must have been opened with `allowHalfOpen`. When one fails, the other ends with it. */
export function joinSockets(one: Socket, other: Socket, { idle = 0 }: JoinOptions = {}): void {
  for (const [end, opposite] of [
    [one, other],
    [other, one],
  ] as const) {
    end.on('error', () => end.destroy());
    // One that has closed in good order has ended its opposite, which may still have bytes to send.
    end.on('close', () => {
      if (!opposite.writableEnded) opposite.destroy();
    });
    end.pipe(opposite);
  }
  // Bytes in either direction pass both ends, so one of them knows.
  one.setTimeout(idle, () => one.destroy());
}
