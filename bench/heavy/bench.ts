// Heavy requests beside light ones: how long others wait for `GET /v1/apps` while one app replaces its index of 10,000
// entries, and while a package of 100 MiB is published. Core on one core of the machine and its threads with it;
// PostgreSQL and the callers on the other.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { archiveOf } from '../../packages/core/test-support/internals.ts';
import { randomFrom } from '../../tests/support/random.ts';
import { startCoreAlone } from '../core-alone.ts';
import { median, percentile, printRow, reported } from '../machine.ts';
import { Corpus } from '../search/corpus.ts';
import { CALLERS, type SearchServer } from '../search/server-line.ts';

const ENTRIES = 10_000;
const PACKAGE_BYTES = 100 * 1024 * 1024;
const QUIET_MILLISECONDS = 5_000;
const ROUNDS = 3;

await using bench = await startCoreAlone<SearchServer>({
  server: new URL('../search/server.ts', import.meta.url),
  postgres: 'disk',
});
const server = bench.line;
const [reader, writer] = [server.accounts[0], server.accounts[CALLERS]];
if (reader === undefined || writer === undefined) throw new Error('there is no account');
await bench.separate();

const random = randomFrom(3);
const corpus = new Corpus(1);
const bodies = Array.from({ length: ROUNDS }, () =>
  JSON.stringify({ entries: Array.from({ length: ENTRIES }, (_, at) => corpus.note(`n${at}`, random)) }),
);
const packages: Buffer[] = [];
for (let round = 0; round < ROUNDS; round += 1) packages.push(packageOf(`${round + 1}.0.0`));

await reading(new Promise((resolve) => setTimeout(resolve, 1_000)));
tell('quiet', await reading(new Promise((resolve) => setTimeout(resolve, QUIET_MILLISECONDS))));
tell('while 10,000 entries are indexed', await reading(inTurn(bodies, replace)));
tell('while a package of 100 MiB is checked', await reading(inTurn(packages, publish)));

function tell(when: string, times: readonly number[]): void {
  printRow(reported(`GET /v1/apps, ${when}, median`, median(times), 'ms'));
  printRow(reported('the same, 99th percentile', percentile(times, 99), 'ms'));
  printRow(reported('the same, longest', Math.max(...times), 'ms'));
}

/** One caller that asks again and again until `work` is done. @returns milliseconds of each answer */
async function reading(work: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  while (!isDone) {
    const begun = performance.now();
    await request(
      { method: 'GET', path: '/v1/apps', headers: { cookie: reader?.cookie ?? '' }, agent },
      undefined,
      200,
    );
    times.push(performance.now() - begun);
  }
  agent.destroy();
  await done;
  return times;
}

async function inTurn<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>): Promise<void> {
  for (const [index, item] of items.entries()) await work(item, index);
}

function replace(body: string): Promise<void> {
  const headers = { authorization: `Bearer ${writer?.credential}`, 'content-type': 'application/json' };
  return request({ method: 'PUT', path: '/v1/services/search/index', headers }, body, 200);
}

function publish(archive: Buffer, index: number): Promise<void> {
  const origin = `http://${server.host}`;
  const headers = { cookie: writer?.cookie ?? '', origin, 'content-type': 'application/gzip' };
  return request({ method: 'PUT', path: `/v1/catalog/heavy-app/versions/${index + 1}.0.0`, headers }, archive, 201);
}

/** Half of it is unpacked as a frontend; nothing of it can be compressed. */
function packageOf(version: string): Buffer {
  const manifest = {
    schemaVersion: 9,
    id: 'heavy-app',
    version,
    name: 'Heavy',
    summary: 'Heavy.',
    frontend: { entry: 'a.bin' },
  };
  const half = randomBytes(PACKAGE_BYTES / 2).toString('latin1');
  const files = { 'manifest.json': JSON.stringify(manifest), 'frontend/a.bin': half, 'data/b.bin': half };
  return archiveOf({ entries: Object.entries(files).map(([name, content]) => ({ name, type: 'file', content })) });
}

/** @throws Error for another answer than `expected` */
function request(options: http.RequestOptions, body: string | Buffer | undefined, expected: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: server.host, ...options.headers };
    const sent = http.request({ host: '127.0.0.1', port: server.port, ...options, headers }).once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(0, 500)));
      response.once('end', () => {
        if (response.statusCode === expected) resolve();
        else reject(new Error(`${options.path} was answered ${response.statusCode}: ${text}`));
      });
    });
    sent.end(body);
  });
}
