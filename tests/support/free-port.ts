// Free ports, for servers whose address must be known before they start.
import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below the kernel's ephemeral range, so that it assigns none of these meanwhile. */
const [FIRST, BEYOND] = [20_000, 32_768];

/** At random, so that tests that run side by side do not choose the same. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, BEYOND);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
