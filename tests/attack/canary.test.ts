// No secret at rest or in a log: every credential that was given out, and every secret that was taken, is searched for in the database, the data folder
// and everything the platform said, in the forms in which it could leak.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { emptyPlace, type PlatformPlace, type PlatformProcess, startPlatform } from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { assertNowhere, databaseOf, folderTexts } from '../support/sweep.ts';

const APP = 'canary';
/** Tells its environment to whoever asks: here, the test that looks for it elsewhere. */
const WORKLOAD = `const http = process.getBuiltinModule('node:http');
http.createServer((request, response) => response.end(JSON.stringify(process.env))).listen(Number(process.env.PORT));`;

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;

before(async () => {
  place = await emptyPlace({ PLATFORM_LOG_LEVEL: 'trace' });
  platform = await startPlatform(place);
  account = await registerAccount(place, 'canary-owner');
});
after(async () => {
  await platform.stop();
  await place.remove();
});

interface Launch {
  readonly origin: string;
  readonly url: string;
  readonly frontendCapability: string;
  readonly backend: { readonly endpointTicket: string; readonly capability: string };
}

async function installCanary(): Promise<Launch> {
  const permissions = [{ id: 'notifications.publish', resources: ['*'] }];
  const manifest = testManifest(APP, { permissions, workload: { runtime: 'node', entry: 'main.mjs', volume: true } });
  const body = await buildTestPackage({
    manifest,
    files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': WORKLOAD },
  });
  const published = await account.fetch(`/v1/catalog/${APP}/versions/1.0.0`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(published.status, 201, published.text);
  await account.browser.take('/v1/apps', { body: { appId: APP } });
  return account.browser.take<Launch>(`/v1/apps/${APP}/launch`, { body: {} });
}

test('no credential that was given out lies in the database, the data folder or the log', async () => {
  const launch = await installCanary();
  const exchanged = await rawRequest({
    port: place.port,
    method: 'POST',
    path: '/v1/frontend/exchange',
    headers: { host: new URL(place.origin).host, origin: launch.origin, 'content-type': 'application/json' },
    body: JSON.stringify({ capability: launch.frontendCapability }),
  });
  const { capability: frontend } = exchanged.json as { capability: string };
  const ticket = JSON.parse(Buffer.from(launch.backend.endpointTicket.slice(5), 'base64url').toString()) as {
    url: string;
  };
  const answer = await rawRequest({
    port: place.nodePort,
    path: `${new URL(ticket.url).pathname}/`,
    headers: {
      host: new URL(ticket.url).host,
      origin: launch.origin,
      authorization: `Bearer ${launch.backend.capability}`,
    },
  });
  const environment = JSON.parse(answer.text) as Record<string, string>;
  const gateway = environment.PLATFORM_GATEWAY_TOKEN ?? '';
  assert.match(gateway, /^pgw_/);
  const appCapability = environment.PLATFORM_APP_CAPABILITY ?? '';
  assert.match(appCapability, /^pdc_[\w-]{43}$/);
  assert.notEqual(appCapability, launch.backend.capability);
  assert.equal(environment.PLATFORM_APP_ORIGIN, launch.origin);
  assert.equal(
    JSON.stringify(environment).includes('pcs_'),
    false,
    'the core service credential never reaches a workload',
  );
  assert.equal(JSON.stringify(environment).includes('pnd_'), false, 'the node credential never reaches a workload');
  assert.deepEqual(
    Object.keys(environment)
      .filter((name) => name.startsWith('PLATFORM_'))
      .sort(),
    [
      'PLATFORM_API_URL',
      'PLATFORM_APP_CAPABILITY',
      'PLATFORM_APP_ORIGIN',
      'PLATFORM_GATEWAY_TOKEN',
      'PLATFORM_VOLUME_DIR',
    ],
  );

  const session = account.cookie.slice(account.cookie.indexOf('=') + 1);
  const secret = 'canary-secret-4b1f77d09c2e5a63';
  const kept = await account.fetch('/v1/account/secrets/canary', { method: 'PUT', body: { value: secret } });
  assert.equal(kept.status, 204, kept.text);
  const canaries = {
    secret,
    session,
    frontend,
    launch: launch.frontendCapability,
    gateway,
    dataPlane: launch.backend.capability,
    appCapability,
  };
  const database = await databaseOf(place);
  assert.ok(database.includes('canary-owner'), 'the sweep reads what is there');
  const places = { log: platform.output(), database, ...folderTexts(place.dataDirectory) };
  assertNowhere(places, canaries);
  for (const [where, text] of Object.entries(places))
    assert.doesNotMatch(text, /p(?:cs|nd|gw|fc|dc)_[A-Za-z0-9_-]{43}/, `a credential lies in ${where}`);
});

test('a workload is told nothing of other secrets, and its log shows none', async () => {
  const { items } = await account.browser.take<{ items: { line: string }[] }>(`/v1/apps/${APP}/logs`);
  assert.doesNotMatch(JSON.stringify(items), /p(?:cs|nd|gw|fc|dc)_[A-Za-z0-9_-]{20}/);
});
