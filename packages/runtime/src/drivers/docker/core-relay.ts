// Connects a Gateway's container to core: a Unix socket, held by the Runtime, that leads to core and nowhere else. So
// the container needs no network but its workload's, and core can listen on loopback only. The Runtime does TLS to core
// with the key of the node, which no container may have.
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import net, { type Socket } from 'node:net';
import { joinSockets } from '@platform/http';
import { type LinkTarget, linkConnector } from '@platform/link';
import { buildConnector } from 'undici';

/** How core and this node prove themselves to each other over https. */
export interface CoreLink extends Pick<LinkTarget, 'key' | 'certificate'> {
  /** Name and port by which core is addressed, which its certificate must be valid for where there is no `key`. */
  readonly host: string;
}

export interface CoreRelay {
  /** Where connections go from now on; before, they are refused. */
  leadTo(coreOrigin: string): void;
  close(): Promise<void>;
}

const OPEN_TO_ITS_FOLDER = 0o666;

/** @param link for a core that is reached over https */
export async function openCoreRelay(path: string, link?: CoreLink): Promise<CoreRelay> {
  let connect: ((callback: buildConnector.Callback) => void) | undefined;
  const open = new Set<Socket>();
  const watch = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  };
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    watch(socket);
    if (connect === undefined) {
      socket.destroy();
      return;
    }
    connect((...[error, core]) => {
      if (error !== null || socket.destroyed) {
        socket.destroy();
        core?.destroy();
        return;
      }
      watch(core);
      core.allowHalfOpen = true;
      joinSockets(socket, core);
    });
  });
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, OPEN_TO_ITS_FOLDER);
  return {
    leadTo(coreOrigin) {
      const { protocol, host: address } = new URL(coreOrigin);
      const host = link?.host ?? address;
      const { hostname } = new URL(`${protocol}//${host}`);
      const linked = linkConnector(buildConnector, { ...link, origin: coreOrigin });
      connect = (callback) => linked({ protocol, host, hostname, port: '' }, callback);
    },
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
