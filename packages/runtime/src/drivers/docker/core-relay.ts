// The way from a Gateway's container to core: a Unix socket that the Runtime holds and that leads to core and nowhere
// else. So the container needs no network but its workload's, and core may listen on the machine's loopback only.
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import net, { type Socket } from 'node:net';
import { joinSockets } from '@platform/http';

export interface CoreRelay {
  /** Where connections go from now on; before, they are refused. */
  leadTo(coreOrigin: string): void;
  close(): Promise<void>;
}

const OPEN_TO_ITS_FOLDER = 0o666;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Bytes pass as they are, so that TLS to core ends in the Gateway. */
export async function openCoreRelay(path: string): Promise<CoreRelay> {
  let to: { readonly host: string; readonly port: number } | undefined;
  const open = new Set<Socket>();
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (to === undefined) {
      socket.destroy();
      return;
    }
    const core = net.connect({ ...to, allowHalfOpen: true, noDelay: true });
    for (const end of [socket, core]) {
      open.add(end);
      end.on('close', () => open.delete(end));
    }
    joinSockets(socket, core);
  });
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, OPEN_TO_ITS_FOLDER);
  return {
    leadTo(coreOrigin) {
      to = addressOf(coreOrigin);
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

function addressOf(coreOrigin: string): { readonly host: string; readonly port: number } {
  const { protocol, hostname, port } = new URL(coreOrigin);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? (DEFAULT_PORTS[protocol] ?? 80) : Number(port) };
}
