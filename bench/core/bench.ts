// `GET /v1/apps` by session: core alone on one core of the machine, PostgreSQL and the callers on the other.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { REST_CPU, startCoreAlone } from '../core-alone.ts';
import { loadWithWrk } from '../gateway/processes.ts';
import { atLeast, median, printRow, reported } from '../machine.ts';

const ROUNDS = 5;
const SECONDS = 3;

await using bench = await startCoreAlone<{ port: number; origin: string; cookie: string }>({
  server: new URL('./server.ts', import.meta.url),
  postgres: 'memory',
});
await bench.separate();
const { port, origin, cookie } = bench.line;
const script = join(bench.folder, 'apps.lua');
await writeFile(script, `wrk.headers["Host"] = "${new URL(origin).host}"\nwrk.headers["Cookie"] = "${cookie}"\n`);
const url = `http://127.0.0.1:${port}/v1/apps`;
const load = { core: REST_CPU, callers: 32, seconds: SECONDS, script };
await loadWithWrk(url, load);
const before = await queries(bench.databaseUrl);
const rates: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) rates.push((await loadWithWrk(url, load)).requestsPerSecond);
const asked = (await queries(bench.databaseUrl)) - before;
const requests = rates.reduce((sum, rate) => sum + rate * SECONDS, 0);
printRow(atLeast('GET /v1/apps by session, core on one core, PostgreSQL on the other', median(rates), 'req/s', 3_000));
printRow(reported('transactions for each of these requests (identity costs none when warm)', asked / requests, ''));

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
