// The messaging bridge as a process: beside core where a homeserver is configured, alone where it is asked for, and not at all
// without what it needs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { bridgeMetrics } from '@platform/contract';
import {
  type FakeHomeserver,
  startFakeHomeserver,
} from '../../packages/messaging-bridge/test-support/fake-homeserver.ts';
import { type Person, personAt } from '../support/bridge-world.ts';
import { freePort } from '../support/free-port.ts';
import {
  killPart,
  type PlatformPlace,
  partOf,
  platformPlace,
  RUNNING,
  runCommand,
  startCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const TOKEN = 'token-of-core-and-bridge-0123456789';

let homeserver: FakeHomeserver;
let place: PlatformPlace;
let ada: Person;
let metricsPort: number;

before(async () => {
  homeserver = await startFakeHomeserver();
  metricsPort = await freePort();
  const port = await freePort();
  place = await platformPlace({
    PLATFORM_MESSAGING_SERVER_NAME: homeserver.serverName,
    PLATFORM_MESSAGING_HOMESERVER_URL: homeserver.origin,
    PLATFORM_MESSAGING_BRIDGE_URL: `http://127.0.0.1:${port}`,
    PLATFORM_MESSAGING_BRIDGE_TOKEN: TOKEN,
    PLATFORM_MESSAGING_BRIDGE_LISTEN: `127.0.0.1:${port}`,
    PLATFORM_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
  });
  ada = personAt(`http://127.0.0.1:${port}`, TOKEN, 'ada', homeserver.serverName);
});
after(async () => {
  await place?.remove();
  await homeserver?.close();
});

const isKnown = () =>
  until('the bridge to answer', async () => {
    const answer = await ada.ask('identity', {}).catch(() => null);
    return answer?.identity.transportUserId === ada.userId;
  });

/** What an operator's Prometheus reads of the bridge: as documented, and nothing about anybody. */
async function metricsOfBridge(): Promise<(sample: string) => number> {
  const { text } = await rawRequest({
    port: metricsPort,
    path: '/metrics',
    headers: { host: `127.0.0.1:${metricsPort}` },
  });
  const seen = [...text.matchAll(/^# TYPE (platform_messaging_bridge_\w+) (\w+)$/gm)];
  const documented = Object.entries(bridgeMetrics).map(([name, { type }]) => [name, type]);
  assert.deepEqual(seen.map(([, name, type]) => [name, type]).sort(), documented.sort());
  assert.match(text, /^process_resident_memory_bytes\{part="messaging bridge"\} \d/m);
  assert.ok(!text.includes(ada.userId) && !text.includes(ada.accountId));
  return (sample) => {
    const line = text.split('\n').find((one) => one.startsWith(`platform_messaging_bridge_${sample} `));
    return Number(line?.slice(line.lastIndexOf(' ') + 1));
  };
}

test('without a registration neither starts, and the sentence says what to do', async () => {
  for (const args of [['start'], ['messaging-bridge']])
    await assert.rejects(
      startCommand(args, place.environment, RUNNING),
      /registration of the messaging bridge, .*registration\.yaml, is missing\. Run \.\/platform messaging init\./,
    );
});

test('beside core it is a part that is watched, restarted and given no variable of the platform', async () => {
  // It says that nothing runs yet, with exit code 1.
  await runCommand(['messaging', 'init'], place.environment).catch(() => undefined);
  const platform = await startPlatform(place);
  try {
    assert.match(platform.output(), new RegExp(`Homeserver +${homeserver.origin}`));
    await isKnown();
    const { pid } = await partOf(place, 'Messaging bridge');
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    assert.ok(environment.includes('PATH='));
    assert.doesNotMatch(environment, /PLATFORM_/);
    const now = await metricsOfBridge();
    assert.deepEqual([now('accounts'), now('open_accounts'), now('dirty_accounts')], [1, 1, 0]);
    assert.ok(now('operations_total{operation="identity",outcome="ok"}') >= 1);
    await killPart(place, 'Messaging bridge');
    await isKnown();
  } finally {
    assert.equal(await platform.stop(), 0);
  }
  const registered = homeserver.calls.filter(({ path }) => path === '/register');
  assert.equal(registered.length, 1, 'after the kill it knew the account');
});

test('alone it serves the same accounts, and ends on a signal', async () => {
  const bridge = await startCommand(['messaging-bridge'], place.environment, 'The messaging bridge is running.');
  try {
    await isKnown();
    await assert.rejects(ada.ask('read', { conversationId: 'none', messageId: 'none' }), { code: 'not_found' });
    const now = await metricsOfBridge();
    assert.equal(now('operations_total{operation="read",outcome="not_found"}'), 1);
    // It has looked after the account that it knew from before.
    await until('the sweep of the start', async () => (await metricsOfBridge())('sync_seconds_count') >= 1);
    assert.equal(now('sync_failures_total'), 0);
    await assert.rejects(
      startCommand(
        ['messaging-bridge'],
        {
          ...place.environment,
          PLATFORM_MESSAGING_BRIDGE_LISTEN: `127.0.0.1:${await freePort()}`,
          PLATFORM_METRICS_LISTEN: '',
        },
        'The messaging bridge is running.',
      ),
      /Another messaging bridge works in/,
    );
  } finally {
    assert.equal(await bridge.stop(), 0);
  }
  assert.equal(homeserver.calls.filter(({ path }) => path === '/register').length, 1);
});
