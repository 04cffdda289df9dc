// What a link costs beside plain TLS with a certificate that is trusted: requests of 1 KiB over connections that are kept,
// new connections, and one large answer; over TLS under pinned keys, and over iroh. The other end is a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { IrohEndpoint, keyFromSeed, linkCertificate, linkConnector } from '@platform/link';
import { buildConnector, Pool } from 'undici';
import { atLeast, median, printRow, reported } from '../machine.ts';

const CONNECTIONS = 16;
const REQUESTS = 3_000;
const HANDSHAKES = 100;
const LARGE = 32 * 1_024 * 1_024;
const ROUNDS = 3;

const key = keyFromSeed(Buffer.alloc(32, 1)).publicKey;
const own = keyFromSeed(Buffer.alloc(32, 2));
const certificate = await linkCertificate(own);
const iroh = await IrohEndpoint.open({ key: own, listen: { host: '127.0.0.1', port: 0 } });
const child = spawn(process.execPath, [fileURLToPath(new URL('./serve.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
const places = JSON.parse(line) as Record<Way, string>;

type Way = 'plain' | 'link' | 'iroh';
const WAYS: readonly Way[] = ['plain', 'link', 'iroh'];

function open(way: Way, connections: number): Pool {
  if (way === 'plain')
    return new Pool(places.plain, {
      connections,
      allowH2: false,
      connect: { rejectUnauthorized: false, maxCachedSessions: 0 },
    });
  const connect = linkConnector(buildConnector, { origin: places[way], key, certificate, iroh });
  return new Pool(way === 'iroh' ? 'http://iroh.link' : places[way], { connections, connect });
}

async function get(pool: Pool, path: string, reset = false): Promise<void> {
  const { body } = await pool.request({ method: 'GET', path, reset });
  let left = Number(path.slice(1)) || 1_024;
  for await (const chunk of body as AsyncIterable<Buffer>) left -= chunk.length;
  if (left !== 0) throw new Error(`${left} bytes are missing`);
}

/** Requests in a second. */
async function requests(way: Way): Promise<number> {
  const pool = open(way, CONNECTIONS);
  await Promise.all(Array.from({ length: CONNECTIONS * 4 }, () => get(pool, '/0')));
  const started = performance.now();
  let left = REQUESTS;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left > 0) {
        left -= 1;
        await get(pool, '/0');
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  await pool.destroy();
  return REQUESTS / seconds;
}

/** Milliseconds for a request on a connection of its own. */
async function handshake(way: Way): Promise<number> {
  const pool = open(way, 1);
  const started = performance.now();
  for (let count = 0; count < HANDSHAKES; count += 1) await get(pool, '/0', true);
  const each = (performance.now() - started) / HANDSHAKES;
  await pool.destroy();
  return each;
}

/** MiB in a second. */
async function large(way: Way): Promise<number> {
  const pool = open(way, 1);
  await get(pool, '/0');
  const started = performance.now();
  await get(pool, `/${LARGE}`);
  const seconds = (performance.now() - started) / 1_000;
  await pool.destroy();
  return LARGE / 1_048_576 / seconds;
}

try {
  // In turn, so that whatever else the machine does meets all ways alike.
  const found = new Map(
    WAYS.map((way) => [way, { requests: [] as number[], each: [] as number[], large: [] as number[] }]),
  );
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [way, figures] of found) {
      figures.requests.push(await requests(way));
      figures.each.push(await handshake(way));
      figures.large.push(await large(way));
    }
  const of = (way: Way, what: 'requests' | 'each' | 'large') => median(found.get(way)?.[what] ?? []);
  const ratio = (way: Way, what: 'requests' | 'large') => of(way, what) / of('plain', what);
  printRow(atLeast('requests of 1 KiB over a direct link, of plain TLS', ratio('link', 'requests'), '×', 0.8));
  printRow(atLeast('one large answer over a direct link, of plain TLS', ratio('link', 'large'), '×', 0.8));
  printRow(reported('requests of 1 KiB over iroh, of plain TLS', ratio('iroh', 'requests'), '×'));
  printRow(reported('one large answer over iroh, of plain TLS', ratio('iroh', 'large'), '×'));
  for (const way of WAYS) {
    printRow(reported(`${way}: requests of 1 KiB, ${CONNECTIONS} connections`, of(way, 'requests'), '/s'));
    printRow(reported(`${way}: a request on a connection of its own`, of(way, 'each'), 'ms'));
    printRow(reported(`${way}: one answer of 32 MiB`, of(way, 'large'), 'MiB/s'));
  }
} finally {
  child.kill();
  await iroh.close();
}
