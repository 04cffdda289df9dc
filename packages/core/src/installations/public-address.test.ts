// The internet address of an app as its owner sees it: nothing for an app that offers nothing, and ports as its node has them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, type PublicPortState, publicAddress } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { bearer, install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';

const UDP: Grant = { id: 'endpoints.public.udp', resources: ['UDP:5000', 'UDP:auto'] };

let platform: Constellation;
let owner: TestAccount;

before(async () => {
  platform = await startConstellation();
  owner = await registerAccount(platform, 'publisher');
});
after(() => platform.close());

const read = async (appId: string) => publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public`));

test('an app without public routes has no address, and nothing to renew', async () => {
  await publish(owner, 'inward', { workload: nodeWorkload });
  await install(owner, 'inward');
  assert.deepEqual(await read('inward'), { hostname: null, url: null, routes: [], ports: [] });
  const renewal = await owner.fetch('/v1/apps/inward/public/renew', { body: {} });
  assert.deepEqual([renewal.status, problemCode(renewal)], [404, 'not_found']);
  const unknown = await owner.fetch('/v1/apps/no-such-app/public');
  assert.deepEqual([unknown.status, problemCode(unknown)], [404, 'not_found']);
});

test('ports are shown with their grant, and with the number that their node reports', async () => {
  await publish(owner, 'game', {
    workload: nodeWorkload,
    publicPorts: [
      { name: 'play', protocol: 'udp', containerPort: 5_000 },
      { name: 'voice', protocol: 'udp', containerPort: 'auto' },
    ],
    permissions: [UDP],
  });
  await install(owner, 'game', [UDP]);
  const states = (ports: readonly PublicPortState[]) => ports.map(({ state, hostPort }) => [state, hostPort]);
  const before = await read('game');
  assert.equal(before.hostname, null);
  assert.deepEqual(states(before.ports), [
    ['closed', null],
    ['closed', null],
  ]);
  assert.deepEqual(
    before.ports.map(({ containerPort }) => containerPort),
    [5_000, null],
  );
  const { id } = await installationRow(platform, owner, 'game');
  const port = { protocol: 'udp', host: '127.0.0.1' };
  const status = {
    installationId: id,
    state: 'running',
    since: '2026-11-21T10:00:00.000Z',
    restarts: 0,
    lastExit: null,
    unenforced: [],
    publicPorts: [
      { ...port, name: 'play', containerPort: 5_000, hostPort: 40_001 },
      { ...port, name: 'voice', containerPort: 6_001, hostPort: 40_002, closed: 'Nothing listens there.' },
    ],
  };
  const reported = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/status', {
    items: [status],
  });
  assert.equal(reported.status, 204, reported.text);
  const running = await read('game');
  assert.deepEqual(states(running.ports), [
    ['open', 40_001],
    ['closed', 40_002],
  ]);
  assert.equal(running.ports[1]?.closed, 'Nothing listens there.');
  assert.equal(running.ports[1]?.containerPort, 6_001);
  await owner.browser.take('/v1/runtime/pause', { body: {} });
  assert.deepEqual(
    (await read('game')).ports.map(({ state }) => state),
    ['no-backend', 'no-backend'],
  );
  await owner.browser.take('/v1/runtime/resume', { body: {} });
  await owner.browser.take('/v1/apps/game/permissions', {
    method: 'PUT',
    body: { permissions: [{ ...UDP, resources: ['UDP:5000'] }] },
  });
  assert.deepEqual(states((await read('game')).ports), [
    ['open', 40_001],
    ['not-granted', null],
  ]);
});
