// Who is at the other end of a connection that came by a link, whatever carries it.
import type { Socket } from 'node:net';

export interface LinkPeer {
  /** The key that was proven in this connection's handshake, 32 bytes. */
  readonly key: Buffer;
  readonly known: boolean;
}

const peers = new WeakMap<Socket, LinkPeer>();

/** Who proved a key on this connection; `undefined` for one that came by no link. */
export function linkPeer(socket: Socket): LinkPeer | undefined {
  return peers.get(socket);
}

/** Keeps who is on the other side of a connection; read with {@link linkPeer}. */
export function setLinkPeer(socket: Socket, peer: LinkPeer): void {
  peers.set(socket, peer);
}
