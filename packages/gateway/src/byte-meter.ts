// Counts the bytes of connections without touching a single request: the kernel's handle behind each socket counts
// anyway, so only connections that come and go cost anything.
import type { Socket } from 'node:net';

export interface ByteMeter {
  /** Counts this connection from its begin to its end. */
  watch(socket: Socket): void;
  /** Bytes of all connections so far, closed and open. */
  total(): { readonly read: number; readonly written: number };
}

export function openByteMeter(): ByteMeter {
  const open = new Set<Socket>();
  const closed = { read: 0, written: 0 };
  return {
    watch(socket) {
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        closed.read += socket.bytesRead;
        closed.written += socket.bytesWritten;
      });
    },
    total() {
      let { read, written } = closed;
      for (const socket of open) {
        read += socket.bytesRead;
        written += socket.bytesWritten;
      }
      return { read, written };
    },
  };
}
