// What an operator's Prometheus reads: the documented metrics, in their form, about what really happened, and nothing
// about anybody.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { coreMetrics, ingressMetrics, nodeMetrics, partMetrics } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import {
  killPart,
  PARTS,
  type PlatformPlace,
  type PlatformProcess,
  partOf,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  console.log('x\\n'.repeat(5000));
  http.createServer((req, res) => res.end('y'.repeat(50_000))).listen(Number(process.env.PORT));
`;
const LIMIT_MS = 60_000;
const METRICS = { ...partMetrics, ...nodeMetrics, ...ingressMetrics, ...coreMetrics };

let port: number;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;

before(async () => {
  port = await freePort();
  place = await platformPlace({ PLATFORM_METRICS_LISTEN: `127.0.0.1:${port}` });
  platform = await startPlatform(place);
  account = await registerAccount(place, 'watcher');
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

function ask(headers: Readonly<Record<string, string>> = {}, path = '/metrics', method = 'GET'): Promise<RawAnswer> {
  return rawRequest({ port, path, method, headers: { host: `127.0.0.1:${port}`, ...headers } });
}

/** Every sample: its name with its labels, and its value. */
async function samples(): Promise<Map<string, number>> {
  const { status, text, headers } = await ask();
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

async function install(appId: string, main: string): Promise<void> {
  const manifest = testManifest(appId, { workload: { runtime: 'node', entry: 'main.mjs' } });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': main };
  const published = await account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
    method: 'PUT',
    body: await buildTestPackage({ manifest, files }),
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(published.status, 201, published.text);
  await account.browser.take('/v1/apps', { body: { appId } });
}

/** One request of the app's page to its backend. */
async function use(appId: string): Promise<RawAnswer> {
  const { origin, backend } = await account.browser.take<{
    origin: string;
    backend: { endpointTicket: string; capability: string };
  }>(`/v1/apps/${appId}/launch`, { body: {} });
  const ticket = Buffer.from(backend.endpointTicket.slice('pet1.'.length), 'base64url').toString();
  const { url } = JSON.parse(ticket) as { url: string };
  const { host, pathname } = new URL(url);
  const headers = { host, origin, authorization: `Bearer ${backend.capability}` };
  return rawRequest({ port: place.nodePort, path: `${pathname}/`, headers });
}

test('every documented metric is there with its kind, and no other of ours', async () => {
  const { text } = await ask();
  const seen = [...text.matchAll(/^# TYPE (platform_\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
  const documented = Object.entries(METRICS).map(([name, { type }]) => [name, type]);
  assert.deepEqual(seen.sort(), documented.sort());
  for (const part of PARTS.filter((name) => name !== 'PostgreSQL').map((name) => name.toLowerCase())) {
    assert.match(text, new RegExp(`^nodejs_eventloop_lag_seconds\\{part="${part}"\\} \\d`, 'm'));
    assert.match(text, new RegExp(`^process_resident_memory_bytes\\{part="${part}"\\} \\d`, 'm'));
  }
  const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.equal(new Set(types).size, types.length, 'a metric that several processes have is one metric');
});

test('a part that is being restarted is seen to be away, and the metrics of the others are there', async () => {
  await killPart(place, 'Node');
  const now = await samples();
  assert.equal(now.get('platform_part_up{part="node"}'), 1);
  assert.equal(now.get('platform_part_restarts_total{part="node"}'), 1);
  assert.equal(now.get('platform_part_restarts_total{part="core"}'), 0);
  const { pid } = await partOf(place, 'Core');
  assert.ok(pid !== null);
  process.kill(pid, 'SIGSTOP');
  try {
    assert.ok((await samples()).has('process_resident_memory_bytes{part="node"}'), 'a part that hangs holds up nobody');
    process.kill(pid, 'SIGKILL');
    await until('core to be away', async () => (await samples()).get('platform_part_up{part="core"}') === 0);
  } finally {
    if (pid === (await partOf(place, 'Core')).pid) process.kill(pid, 'SIGCONT');
  }
  await until('core to be back', async () => (await samples()).get('platform_part_restarts_total{part="core"}') === 1);
});

test('they tell what happened on the node, and name nobody', async () => {
  const before = await samples();
  assert.equal(before.get('platform_node_installations{state="running"}'), 0);
  await install('noisy-server', SERVER);
  assert.equal((await use('noisy-server')).text.length, 50_000);
  const now = await samples();
  const grown = (name: string) => (now.get(name) ?? Number.NaN) - (before.get(name) ?? 0);
  assert.equal(now.get('platform_node_installations{state="running"}'), 1);
  assert.equal(grown('platform_node_wakes_total'), 1);
  assert.equal(grown('platform_node_start_seconds_count'), 1);
  assert.equal(grown('platform_node_crashes_total'), 0);
  assert.equal(grown('platform_node_gateway_requests_total{direction="inbound"}'), 1);
  assert.ok(grown('platform_node_gateway_bytes_total{direction="inbound",flow="sent"}') > 50_000);
  assert.ok(grown('platform_node_reconcile_seconds_count') >= 1);
  assert.equal(grown('platform_core_requests_total{route="/v1/apps",status="201"}'), 1);
  assert.ok((now.get('platform_core_request_seconds_count{route="/v1/apps"}') ?? 0) >= 1);
  assert.ok([...now.keys()].some((name) => name.startsWith('platform_node_info{driver="process"')));

  await account.browser.take('/v1/apps/noisy-server/stop', { body: {} });
  const stopped = await samples();
  assert.equal(stopped.get('platform_node_installations{state="running"}'), 0);
  // What an ended run carried stays counted.
  const bytes = 'platform_node_gateway_bytes_total{direction="inbound",flow="sent"}';
  assert.ok((stopped.get(bytes) ?? 0) >= (now.get(bytes) ?? 1));
  const dropped = 'platform_node_log_lines_dropped_total';
  assert.ok((stopped.get(dropped) ?? 0) - (before.get(dropped) ?? 0) >= 1_000);
  const { text } = await ask();
  for (const secret of ['watcher', 'noisy-server', 'inst-', 'acct-']) assert.ok(!text.includes(secret), secret);
});

test('a backend that does not come up is a crash', async () => {
  const before = await samples();
  await install('broken-server', 'process.exit(1);');
  const starting = account.fetch('/v1/apps/broken-server/start', { body: {} });
  const name = 'platform_node_crashes_total';
  const deadline = Date.now() + LIMIT_MS;
  while (((await samples()).get(name) ?? 0) <= (before.get(name) ?? 0)) assert.ok(Date.now() < deadline);
  await account.fetch('/v1/apps/broken-server/stop', { body: {} });
  await starting;
});

test('nobody reads them from a page or under another name', async () => {
  assert.equal((await ask({ host: 'rebound.example' })).status, 421);
  assert.equal((await ask({ origin: 'http://evil.example' })).status, 403);
  assert.equal((await ask({ 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await ask({}, '/')).status, 404);
  assert.equal((await ask({}, '/metrics', 'POST')).status, 405);
});
