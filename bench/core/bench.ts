// `GET /v1/apps` by session: core alone on one core of the machine, PostgreSQL and the callers on the other.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '@platform/core/database/embedded-postgres.ts';
import pg from 'pg';
import { makeClusterFolder } from '../../tests/support/postgres.ts';
import { loadWithWrk } from '../gateway/processes.ts';
import { atLeast, median, printRow, reported } from '../machine.ts';

const ROUNDS = 5;
const SECONDS = 3;
const CORE_CPU = 0;
const REST_CPU = 1;

const folder = await mkdtemp(join(tmpdir(), 'bench-core-'));
const cluster = makeClusterFolder();
const postgres = await startEmbeddedPostgres({ dataDir: cluster, log: (line) => process.stderr.write(`${line}\n`) });
// Every process it makes from now on inherits the core it runs on.
await promisify(execFile)('taskset', ['-a', '-c', '-p', String(REST_CPU), String(postgres.pid)]);
const server = spawn(
  'taskset',
  ['-c', String(CORE_CPU), process.execPath, fileURLToPath(new URL('./server.ts', import.meta.url))],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PLATFORM_TEST_DATABASE_URL: postgres.url },
  },
);

try {
  const [line] = await once(server.stdout, 'data');
  const { port, origin, cookie }: { port: number; origin: string; cookie: string } = JSON.parse(String(line));
  const script = join(folder, 'apps.lua');
  await writeFile(script, `wrk.headers["Host"] = "${new URL(origin).host}"\nwrk.headers["Cookie"] = "${cookie}"\n`);
  const url = `http://127.0.0.1:${port}/v1/apps`;
  const load = { core: REST_CPU, callers: 32, seconds: SECONDS, script };
  await loadWithWrk(url, load);
  const before = await queries(postgres.url);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push((await loadWithWrk(url, load)).requestsPerSecond);
  const asked = (await queries(postgres.url)) - before;
  const requests = rates.reduce((sum, rate) => sum + rate * SECONDS, 0);
  printRow(
    atLeast('GET /v1/apps by session, core on one core, PostgreSQL on the other', median(rates), 'req/s', 3_000),
  );
  printRow(reported('transactions for each of these requests (identity costs none when warm)', asked / requests, ''));
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
  await rm(cluster, { recursive: true, force: true });
}

/** Transactions of the whole cluster so far. */
async function queries(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: string }>('SELECT sum(xact_commit) AS n FROM pg_stat_database');
    return Number(rows[0]?.n ?? 0);
  } finally {
    await client.end();
  }
}
