// What a link costs beside plain TLS with a certificate that is trusted: requests of 1 KiB over connections that are kept,
// new connections, and one large answer; over TLS under pinned keys, and over iroh. The other end is a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { IrohEndpoint, keyFromSeed, linkCertificate, linkConnector } from '@platform/link';
import { buildConnector, Pool } from 'undici';
import { atLeast, median, printRow, reported } from '../machine.ts';
import { quietRounds } from '../quiet.ts';

type Way = 'plain' | 'link' | 'iroh';

const CONNECTIONS = 16;
const REQUESTS: Readonly<Record<Way, number>> = { plain: 20_000, link: 20_000, iroh: 3_000 };
const HANDSHAKES = 100;
/** Bytes of a large answer. */
const LARGE: Readonly<Record<Way, number>> = { plain: 32 * 2 ** 20, link: 32 * 2 ** 20, iroh: 2 ** 20 };
/** One after the other. */
const LARGE_COUNT = 4;
const ROUNDS = 5;
/** Of iroh, which has no target. */
const IROH_ROUNDS = 2;

const key = keyFromSeed(Buffer.alloc(32, 1)).publicKey;
const own = keyFromSeed(Buffer.alloc(32, 2));
const certificate = await linkCertificate(own);
const iroh = await IrohEndpoint.open({ key: own, listen: { host: '127.0.0.1', port: 0 } });
const child = spawn(process.execPath, [fileURLToPath(new URL('./serve.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
const places = JSON.parse(line) as Record<Way, string>;

type Figures = Readonly<Record<'requests' | 'each' | 'large', number>>;

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
  let left = REQUESTS[way];
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
  return REQUESTS[way] / seconds;
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
  for (let count = 0; count < LARGE_COUNT; count += 1) await get(pool, `/${LARGE[way]}`);
  const seconds = (performance.now() - started) / 1_000;
  await pool.destroy();
  return (LARGE_COUNT * LARGE[way]) / 2 ** 20 / seconds;
}

async function measure(ways: readonly Way[], what: (way: Way) => Promise<number>): Promise<Map<Way, number>> {
  const found = new Map<Way, number>();
  for (const way of ways) found.set(way, await what(way));
  return found;
}

try {
  // Each measurement of one way beside that of the other, and first the one, then the other, so that whatever else the machine
  // does meets both alike.
  let ways: Way[] = ['plain', 'link'];
  for (const way of ways) await requests(way);
  const pids = child.pid === undefined ? [] : [child.pid];
  const rounds = await quietRounds({ rounds: ROUNDS, pids }, async () => {
    ways = ways.toReversed();
    const [count, each, bytes] = [
      await measure(ways, requests),
      await measure(ways, handshake),
      await measure(ways, large),
    ];
    const of = (way: Way): Figures => ({
      requests: count.get(way) ?? 0,
      each: each.get(way) ?? 0,
      large: bytes.get(way) ?? 0,
    });
    return { plain: of('plain'), link: of('link') };
  });
  const overIroh: Figures[] = [];
  for (let round = 0; round < IROH_ROUNDS; round += 1)
    overIroh.push({ requests: await requests('iroh'), each: await handshake('iroh'), large: await large('iroh') });
  const all: Readonly<Record<Way, readonly Figures[]>> = {
    plain: rounds.map(({ plain }) => plain),
    link: rounds.map(({ link }) => link),
    iroh: overIroh,
  };
  const of = (way: Way, what: keyof Figures) => median(all[way].map((figures) => figures[what]));
  const ofLink = (what: keyof Figures) => median(rounds.map(({ link, plain }) => link[what] / plain[what]));
  printRow(atLeast('requests of 1 KiB over a direct link, of plain TLS', ofLink('requests'), '×', 0.8));
  printRow(atLeast('one large answer over a direct link, of plain TLS', ofLink('large'), '×', 0.8));
  for (const what of ['requests', 'large'] as const) {
    const name = what === 'requests' ? 'requests of 1 KiB' : 'one large answer';
    printRow(reported(`${name} over iroh, of plain TLS`, of('iroh', what) / of('plain', what), '×'));
  }
  for (const way of ['plain', 'link', 'iroh'] as const) {
    printRow(reported(`${way}: requests of 1 KiB, ${CONNECTIONS} connections`, of(way, 'requests'), '/s'));
    printRow(reported(`${way}: a request on a connection of its own`, of(way, 'each'), 'ms'));
    printRow(reported(`${way}: answers of ${LARGE[way] / 2 ** 20} MiB`, of(way, 'large'), 'MiB/s'));
  }
} finally {
  child.kill();
  await iroh.close();
}
