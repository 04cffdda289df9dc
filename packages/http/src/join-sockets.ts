// Pipes two connections into each other with back-pressure; each side may half-close on its own.
import type { Socket } from 'node:net';
import { gatherPieces, gatherWrites } from './gather.ts';

export interface JoinOptions {
  /** Milliseconds without a byte in either direction, after which both are closed. Default: no limit. */
  readonly idle?: number;
}

/** Joins two sockets opened with `allowHalfOpen`. When one fails, the other is destroyed. */
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
    gatherPieces(end);
    gatherWrites(opposite);
    end.pipe(opposite);
  }
  // Bytes in either direction pass both ends, so one of them knows.
  one.setTimeout(idle, () => one.destroy());
}
