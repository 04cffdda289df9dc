// The whole platform as `platform start` runs it: memory when idle, cold start of a workload, cost of one that sleeps.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openBackend } from '../../tests/support/backend.ts';
import { registerAccount, type TestAccount } from '../../tests/support/client.ts';
import { buildTestPackage, testManifest } from '../../tests/support/packages.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../../tests/support/platform-process.ts';
import { rawRequest } from '../../tests/support/raw-http.ts';
import { atMost, median, printRow } from '../machine.ts';
import { settledResident } from './process-memory.ts';

const MiB = 1024 * 1024;
const STARTS = 30;
const SLEEPING = 1_000;
const APP = 'bench-hello';
const WORKLOAD = `import http from 'node:http';
http.createServer((request, response) => {
  response.end('hello');
  if (request.url === '/exit') response.on('finish', () => process.exit(0));
}).listen(Number(process.env.PORT));`;

const place = await platformPlace();
const platform = await startPlatform(place);
try {
  const account = await registerAccount(place, 'bench');
  printRow(
    atMost(
      'whole platform idle with one account, PostgreSQL included',
      (await settledResident(platform.pid)) / MiB,
      'MiB',
      350,
    ),
  );
  await installHello(place, account);
  const times = await coldStarts(place, account);
  printRow(atMost('workload cold start to first answered request, median', median(times), 'ms', 250));
  printRow(
    atMost(
      'the same, 95th percentile',
      times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN,
      'ms',
      350,
    ),
  );
  printRow(atMost(`a sleeping installation (of ${SLEEPING})`, (await sleepingCost(place, platform)) / 1024, 'KiB', 50));
} finally {
  await platform.stop();
  await place.remove();
}

async function installHello({ port, origin }: PlatformPlace, account: TestAccount): Promise<void> {
  const manifest = testManifest(APP, { workload: { runtime: 'node', entry: 'main.mjs', mode: 'automatic' } });
  const body = await buildTestPackage({
    manifest,
    files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': WORKLOAD },
  });
  const published = await rawRequest({
    port,
    method: 'PUT',
    path: `/v1/catalog/${APP}/versions/1.0.0`,
    headers: { host: new URL(origin).host, origin, cookie: account.cookie, 'content-type': 'application/gzip' },
    body,
  });
  assert.equal(published.status, 201, published.text);
  const installed = await account.fetch('/v1/apps', { method: 'POST', body: { appId: APP } });
  assert.equal(installed.status, 201, installed.text);
}

/** Milliseconds from a browser's request to a stopped backend until its answer is there. */
async function coldStarts(place: PlatformPlace, account: TestAccount): Promise<number[]> {
  const ask = await openBackend(place, account, APP);
  const times: number[] = [];
  for (let start = -2; start < STARTS; start += 1) {
    const begun = performance.now();
    const answer = await ask('/');
    if (start >= 0) times.push(performance.now() - begun);
    assert.equal(answer.text, 'hello');
    // It ends by itself, as an idle one is ended, and may start by itself again.
    await ask('/exit');
    while ((await stateOf(account)) !== 'stopped');
  }
  return times;
}

async function stateOf(account: TestAccount): Promise<string> {
  const { json } = await account.fetch(`/v1/apps/${APP}/status`);
  return (json as { state: string }).state;
}

async function sleepingCost({ nodePort: _ }: PlatformPlace, { pid }: PlatformProcess): Promise<number> {
  const before = await settledResident(pid);
  await database(async (client) => {
    await client.query(
      `INSERT INTO accounts (key, name, created_at) SELECT 'acct-sleep' || n, 'sleeper' || n, now() FROM generate_series(1, $1) n`,
      [SLEEPING],
    );
    await client.query(
      `INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, grants, revision, node_id, installed_at)
       SELECT 'inst-01890000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'acct-sleep' || n, i.app_id, i.version,
              'sleep' || n, 'sleep' || n, i.grants, 1, i.node_id, now()
         FROM installations i, generate_series(1, $2) n WHERE i.app_id = $1 AND i.account_key NOT LIKE 'acct-sleep%'`,
      [APP, SLEEPING],
    );
    await client.query("UPDATE revisions SET value = value + 1 WHERE name = 'assignments'");
    await client.query("SELECT pg_notify('platform_signals', $1)", [
      JSON.stringify({ name: 'assignments-changed', data: {} }),
    ]);
  });
  return ((await settledResident(pid)) - before) / SLEEPING;
}

async function database(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const { databaseUrl } = JSON.parse(readFileSync(join(place.dataDirectory, 'run', 'instance.json'), 'utf8')) as {
    databaseUrl: string;
  };
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
