// A small app with a backend for the benches of the whole platform: installed once for real, and a thousand times as
// rows of the database, as it is after a thousand people installed it.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { openBackend } from '../../tests/support/backend.ts';
import type { TestAccount } from '../../tests/support/client.ts';
import { buildTestPackage, testManifest } from '../../tests/support/packages.ts';
import { databaseUrlOf, type PlatformPlace } from '../../tests/support/platform-process.ts';
import { type RawAnswer, rawRequest } from '../../tests/support/raw-http.ts';

const APP = 'bench-hello';
/** A small server; asked for `/exit` it ends by itself, as an idle one is ended. */
export const WORKLOAD = `const http = process.getBuiltinModule('node:http');
http.createServer((request, response) => {
  response.end('hello');
  if (request.url === '/exit') response.on('finish', () => process.exit(0));
}).listen(process.env.SOCKET ?? Number(process.env.PORT));`;

export async function installHello({ port, origin }: PlatformPlace, account: TestAccount): Promise<void> {
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

/**
 * @param requests how often a request may be told that the backend is still starting, and be repeated: an emulated
 *   machine may take longer than one request waits
 * @returns a function that gives the milliseconds from a browser's request to the stopped backend until its answer
 */
export async function openColdStart(
  place: PlatformPlace,
  account: TestAccount,
  { requests } = { requests: 1 },
): Promise<() => Promise<number>> {
  const ask = await openBackend(place, account, APP);
  return async () => {
    const begun = performance.now();
    let answer = await ask('/');
    for (let sent = 1; answer.status === 503 && sent < requests; sent += 1) answer = await ask('/');
    const milliseconds = performance.now() - begun;
    assert.equal(answer.text, 'hello');
    await ask('/exit');
    while ((await stateOf(account)) !== 'stopped');
    return milliseconds;
  };
}

async function stateOf(account: TestAccount): Promise<string> {
  const { json } = await account.fetch(`/v1/apps/${APP}/status`);
  return (json as { state: string }).state;
}

/** Installs the app for that many other accounts, and notifies the node. */
export async function addSleepers(place: PlatformPlace, count: number): Promise<void> {
  await withDatabase(place, async (client) => {
    await client.query(
      `INSERT INTO accounts (key, name, created_at) SELECT 'acct-sleep' || n, 'sleeper' || n, now() FROM generate_series(1, $1) n`,
      [count],
    );
    await client.query(
      `INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, grants, revision, node_id, installed_at)
       SELECT 'inst-01890000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'acct-sleep' || n, i.app_id, i.version,
              'sleep' || n, 'sleep' || n, i.grants, 1, i.node_id, now()
         FROM installations i, generate_series(1, $2) n WHERE i.app_id = $1 AND i.account_key NOT LIKE 'acct-sleep%'`,
      [APP, count],
    );
    const hashes = Array.from({ length: count }, (_value, at) => capabilityHash(sleeperCapability(at + 1)));
    await client.query(
      `INSERT INTO data_plane_capabilities (token_hash, installation_id, created_at, expires_at)
       SELECT hash, 'inst-01890000-0000-7000-8000-' || lpad(n::text, 12, '0'), now(), now() + interval '12 h'
         FROM unnest($1::bytea[]) WITH ORDINALITY AS made (hash, n)`,
      [hashes],
    );
    await client.query("UPDATE revisions SET value = value + 1 WHERE name = 'assignments'");
    await client.query("SELECT pg_notify('platform_signals', $1)", [
      JSON.stringify({ name: 'assignments-changed', data: {} }),
    ]);
  });
}

function sleeperCapability(n: number): string {
  return `pdc_${createHash('sha256').update(`sleeper ${n}`).digest('base64url')}`;
}

function capabilityHash(capability: string): Buffer {
  return createHash('sha256').update(capability).digest();
}

/** One request of the app's page to the backend of sleeper number `n`, counted from 1. */
export function askSleeper(place: PlatformPlace, n: number): Promise<RawAnswer> {
  return rawRequest({
    port: place.nodePort,
    path: `/e/sleep${n}/`,
    headers: {
      host: `node.platform.localhost:${place.nodePort}`,
      origin: `http://${APP}--sleep${n}.apps.platform.localhost:${place.port}`,
      authorization: `Bearer ${sleeperCapability(n)}`,
    },
  });
}

async function withDatabase(place: PlatformPlace, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: await databaseUrlOf(place) });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
