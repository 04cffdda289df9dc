// How many connections one client address has open.
import type { Socket } from 'node:net';
import { clientNetwork } from '@platform/contract';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/**
 * Returns what says whether a new connection may stay: at most `most` from one address (`clientNetwork`), any number over
 * the loopback interface.
 */
export function countPerAddress(most: number): (socket: Pick<Socket, 'remoteAddress' | 'once'>) => boolean {
  const counts = new Map<string, number>();
  return (socket) => {
    // Read once while it is known: Node then keeps it after the connection has ended.
    const { remoteAddress: address } = socket;
    if (address === undefined || most === Number.POSITIVE_INFINITY || LOOPBACK.test(address)) return true;
    const network = clientNetwork(address);
    const count = (counts.get(network) ?? 0) + 1;
    counts.set(network, count);
    socket.once('close', () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
    return count <= most;
  };
}
