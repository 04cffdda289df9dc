// Free ports, for servers whose address must be known before they start.
import { randomInt } from 'node:crypto';
import dgram from 'node:dgram';
import net from 'node:net';

/** Below the kernel's ephemeral range, so that it assigns none of these meanwhile. */
const [FIRST, BEYOND] = [20_000, 32_768];

export function freePort(): Promise<number> {
  return choose(isFree);
}

export function freeUdpPort(): Promise<number> {
  return choose(isFreeForUdp);
}

/** Nothing listens on them yet, and they are meant for something. */
const given = new Set<number>();

/** At random, so that tests that run side by side do not choose the same; and none twice. */
async function choose(check: (port: number) => Promise<boolean>): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, BEYOND);
    if (given.has(port)) continue;
    given.add(port);
    if (await check(port)) return port;
    given.delete(port);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeForUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}
