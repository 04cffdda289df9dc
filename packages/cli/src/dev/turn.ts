// One `platform dev` for an app at a time: two would replace each other's versions. Held as an abstract Unix socket, which
// the kernel releases with the process, however that ends.
import { createHash } from 'node:crypto';
import net from 'node:net';
import { StartError, systemCode } from '@platform/core/start';

/** @throws StartError `dev_running` while another process of this machine has the turn */
export async function takeTurn(origin: string, account: string, appId: string): Promise<() => void> {
  const name = createHash('sha256').update([process.getuid?.(), origin, account, appId].join('\0')).digest('hex');
  const server = net.createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(`\0platform-dev-${name.slice(0, 40)}`, resolve);
  }).catch((error: unknown) => {
    if (systemCode(error) !== 'EADDRINUSE') throw error;
    throw new StartError(
      'dev_running',
      `Another ./platform dev is running ${appId} for ${account}. Stop that one, or give this app another id.`,
    );
  });
  server.unref();
  return () => server.close();
}
