// Installing, listing, upgrading and removing apps, and what each leaves behind.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { installedApp } from '@platform/contract';
import { registerAccount, type TestAccount, TestBrowser } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import {
  bearer,
  install,
  installationRow,
  launch,
  nodeWorkload,
  openFrontend,
  publish,
  startedCredential,
} from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../test-support/node-double.ts';

const topics = (...resources: string[]) => ({ id: 'notifications.publish' as const, resources });
const reading = { id: 'apps.catalog.read' as const, resources: ['*'] };

let platform: Constellation;
let node: NodeDouble;
const DEFAULT_APPS = [
  'agent',
  'contacts',
  'files',
  'launcher',
  'messages',
  'notifications',
  'schedules',
  'settings',
  'store',
  'wallet',
];

let alice: TestAccount;
let bob: TestAccount;

before(async () => {
  platform = await startConstellation();
  node = await startNodeDouble(platform);
  alice = await registerAccount(platform, 'alice');
  bob = await registerAccount(platform, 'bob');
  await publish(alice, 'plain');
  await publish(alice, 'chatty', {
    permissions: [{ ...topics('news', 'research:*'), reason: 'sends you news' }, reading],
    workload: nodeWorkload,
  });
});

after(async () => {
  await platform.close();
  await node.close();
});

function uninstall(account: TestAccount, appId: string): Promise<RawAnswer> {
  return account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
}

async function assertRefused(answer: Promise<RawAnswer>, status: number, code: string): Promise<RawAnswer> {
  const { ...all } = await answer;
  assert.deepEqual([all.status, problemCode(all)], [status, code], all.text);
  return all;
}

function appIds(answer: RawAnswer): string[] {
  return (answer.json as { items: { appId: string }[] }).items.map(({ appId }) => appId);
}

describe('a new account', () => {
  test('has the default apps, each its own installation with all it requested', async () => {
    const answer = await bob.fetch('/v1/apps');
    const expected = DEFAULT_APPS;
    assert.deepEqual(appIds(answer), expected);
    const rows = await Promise.all(expected.map((appId) => installationRow(platform, bob, appId)));
    assert.equal(new Set(rows.map(({ id }) => id)).size, expected.length);
    assert.equal(new Set(rows.map(({ host_label }) => host_label)).size, expected.length);
  });

  test('may remove a default app and install it again like any other', async () => {
    const carol = await registerAccount(platform, 'carol');
    assert.equal((await uninstall(carol, 'wallet')).status, 204);
    assert.ok(!appIds(await carol.fetch('/v1/apps')).includes('wallet'));
    assert.equal((await install(carol, 'wallet')).system, true);
  });
});

describe('installing', () => {
  test('takes the newest version and grants what the app requested, without its reasons', async () => {
    const app = await install(bob, 'chatty');
    assert.deepEqual(installedApp.parse(app), app);
    assert.deepEqual(
      { ...app, installedAt: '' },
      {
        appId: 'chatty',
        name: 'chatty',
        summary: 'The test app chatty.',
        version: '1.0.0',
        upgrade: null,
        former: null,
        publisher: 'alice',
        icon: null,
        chrome: 'auto',
        hasFrontend: true,
        hasWorkload: true,
        hasUnreviewedWorkload: false,
        requestsIntelligence: false,
        searchesWeb: false,
        home: false,
        system: false,
        builtIn: false,
        installedAt: '',
      },
    );
    assert.deepEqual((await installationRow(platform, bob, 'chatty')).grants, [topics('news', 'research:*'), reading]);
    await uninstall(bob, 'chatty');
  });

  test('leaves out what the person left out, and stores no grant without resources', async () => {
    await install(bob, 'chatty', [topics('news'), topics(), topics('research:daily'), { ...reading, resources: [] }]);
    assert.deepEqual((await installationRow(platform, bob, 'chatty')).grants, [topics('news', 'research:daily')]);
    await uninstall(bob, 'chatty');
  });

  test('with more than the request is refused, and every excess is named', async () => {
    const permissions = [topics('news', 'newsroom', 'research*'), { id: 'search.index', resources: ['self'] }];
    const answer = await assertRefused(
      bob.fetch('/v1/apps', { body: { appId: 'chatty', permissions } }),
      403,
      'grants_exceed_request',
    );
    const { errors } = answer.json as { errors: { path: string; message: string }[] };
    assert.deepEqual(
      errors.map(({ path }) => path),
      ['permissions[0].resources[1]', 'permissions[0].resources[2]', 'permissions[1].resources[0]'],
    );
    assert.match(errors[0]?.message ?? '', /notifications\.publish for newsroom/);
    await assertRefused(bob.fetch('/v1/apps/chatty/permissions'), 404, 'not_found');
  });

  test('of an unknown app, an unknown version or a container image is refused', async () => {
    await assertRefused(bob.fetch('/v1/apps', { body: { appId: 'nobody-made-it' } }), 404, 'not_found');
    await assertRefused(bob.fetch('/v1/apps', { body: { appId: 'plain', version: '9.9.9' } }), 404, 'not_found');
    await publish(alice, 'image-app', { workload: { runtime: 'oci', image: 'example/app:1' } });
    const refused = await assertRefused(
      bob.fetch('/v1/apps', { body: { appId: 'image-app' } }),
      403,
      'placement_not_allowed',
    );
    assert.match(refused.text, /container image/);
  });

  test('of one app ten times at once succeeds exactly once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => bob.fetch('/v1/apps', { body: { appId: 'plain' } })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      assert.deepEqual([answer.status, problemCode(answer)], [409, 'already_installed']);
    await uninstall(bob, 'plain');
  });

  test('again keeps identity and node, and with them the volume, and changes everything that opens it', async () => {
    await install(bob, 'chatty');
    const former = await installationRow(platform, bob, 'chatty');
    const { backend } = await launch(bob, 'chatty');
    await uninstall(bob, 'chatty');
    await install(bob, 'chatty');
    const next = await installationRow(platform, bob, 'chatty');
    assert.equal(next.id, former.id);
    assert.equal(next.node_id, former.node_id);
    assert.equal(next.node_id, platform.core.localNode.nodeId);
    assert.equal(next.generation, former.generation + 1);
    assert.notEqual(next.host_label, former.host_label);
    assert.notEqual(next.endpoint_id, former.endpoint_id);
    const again = (await launch(bob, 'chatty')).backend;
    assert.notEqual(again?.capability, backend?.capability);
    assert.notEqual(again?.endpointTicket, backend?.endpointTicket);
    await uninstall(bob, 'chatty');
  });
});

describe('the list of installed apps', () => {
  test('comes in pages that hold every app once, and a cursor works for its own list only', async () => {
    const dave = await registerAccount(platform, 'dave');
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: { items: { appId: string }[]; nextCursor: string | null } = await dave.browser.take(
        `/v1/apps?limit=3${query}`,
      );
      assert.ok(page.items.length <= 3);
      seen.push(...page.items.map(({ appId }) => appId));
      if (page.nextCursor !== null) {
        await assertRefused(bob.fetch(`/v1/apps?cursor=${page.nextCursor}`), 400, 'invalid_cursor');
        await assertRefused(dave.fetch(`/v1/catalog?cursor=${page.nextCursor}`), 400, 'invalid_cursor');
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(seen, DEFAULT_APPS);
  });

  test('reports a newer version, and no older one', async () => {
    await publish(alice, 'aging', { version: '1.0.0' });
    await publish(alice, 'aging', { version: '2.0.0-beta.1' });
    await bob.browser.take('/v1/apps', { body: { appId: 'aging', version: '2.0.0-beta.1' } });
    const upgradeOf = async () => {
      const { items } = await bob.browser.take<{ items: { appId: string; upgrade: string | null }[] }>('/v1/apps');
      return items.find(({ appId }) => appId === 'aging')?.upgrade;
    };
    assert.equal(await upgradeOf(), null);
    await publish(alice, 'aging', { version: '2.0.0' });
    assert.equal(await upgradeOf(), '2.0.0');
    await uninstall(bob, 'aging');
  });
});

test('an app sees what the account installed and what it published, as far as its grant reaches', async () => {
  const erin = await registerAccount(platform, 'erin');
  for (const [appId, version] of [
    ['erin-shown', '1.0.0'],
    ['erin-shown', '1.1.0'],
    ['erin-other', '1.0.0'],
    ['seen', '1.0.0'],
  ] as const)
    await publish(erin, appId, { version });
  const resources = ['erin-*', 'seen', 'plain'];
  await publish(alice, 'looker', { permissions: [{ ...reading, resources }], workload: nodeWorkload });
  for (const appId of ['looker', 'seen']) await install(erin, appId);
  const credential = await startedCredential(platform, (await installationRow(platform, erin, 'looker')).id);
  const list = async (query = '') => {
    const { json } = await bearer(platform, credential, `/v1/services/apps${query}`);
    const { items } = json as { items: { appId: string; version: string; installed: boolean; running: boolean }[] };
    return items.map(({ appId, version, installed }) => [appId, version, installed]);
  };
  assert.deepEqual(await list(), [
    ['erin-other', '1.0.0', false],
    ['erin-shown', '1.1.0', false],
    ['seen', '1.0.0', true],
  ]);
  await install(erin, 'erin-other');
  assert.deepEqual(await list('?limit=1'), [['erin-other', '1.0.0', true]]);
});

describe('removing an app', () => {
  test('ends every credential for the next request and leaves the row of its identity alone', async () => {
    await install(bob, 'chatty');
    const frontend = await openFrontend(platform, bob, 'chatty');
    const { id } = await installationRow(platform, bob, 'chatty');
    const credential = await startedCredential(platform, id);
    const workload = () => bearer(platform, credential, '/v1/services/apps');
    assert.equal((await workload()).status, 200);
    assert.equal((await frontend.fetch('/v1/services/apps')).status, 200);
    node.answer = ({ method }) => ({ status: method === 'DELETE' ? 204 : 500, body: '' });
    assert.equal((await uninstall(bob, 'chatty')).status, 204);
    await assertRefused(workload(), 401, 'unauthenticated');
    await assertRefused(frontend.fetch('/v1/services/apps'), 401, 'unauthenticated');
    const row = await installationRow(platform, bob, 'chatty');
    assert.deepEqual([row.id, row.grants, row.removed_at === null], [id, [], false]);
    for (const table of ['core_credentials', 'frontend_capabilities', 'installation_status']) {
      const left = await platform.core.context.pool.query(`SELECT FROM ${table} WHERE installation_id = $1`, [id]);
      assert.equal(left.rowCount, 0, table);
    }
    const { method, path } = node.calls.at(-1) ?? {};
    assert.deepEqual([method, path], ['DELETE', `/control/installations/${id}`]);
  });

  test('takes what it made findable out of the search', async () => {
    await publish(alice, 'findable', {
      permissions: [{ id: 'search.index', resources: ['self'] }],
      workload: nodeWorkload,
    });
    await install(bob, 'findable');
    const credential = await startedCredential(platform, (await installationRow(platform, bob, 'findable')).id);
    const entries = [{ id: 'one', title: 'Zanzibar', url: '/one' }];
    const indexed = await bearer(platform, credential, '/v1/services/search/index', { entries });
    assert.equal(indexed.status, 200, indexed.text);
    const found = async () => (await bob.browser.take<{ items: unknown[] }>('/v1/search?q=zanzibar')).items.length;
    assert.equal(await found(), 1);
    await uninstall(bob, 'findable');
    assert.equal(await found(), 0);
  });

  test('succeeds when its node does not answer: the node stops what it is not assigned', async () => {
    await install(bob, 'chatty');
    node.answer = () => ({ status: 500, body: 'broken' });
    assert.equal((await uninstall(bob, 'chatty')).status, 204);
    assert.ok(platform.log.some(({ message }) => message === 'could not stop a removed app at once'));
  });

  test('twice, or of a stranger’s app, finds nothing', async () => {
    await install(bob, 'plain');
    await assertRefused(uninstall(alice, 'plain'), 404, 'not_found');
    assert.equal((await uninstall(bob, 'plain')).status, 204);
    await assertRefused(uninstall(bob, 'plain'), 404, 'not_found');
  });

  test('while it is opened and started leaves no credential behind', async () => {
    node.answer = () => ({ status: 204, body: '' });
    for (let round = 0; round < 12; round += 1) {
      await install(bob, 'chatty');
      const { id } = await installationRow(platform, bob, 'chatty');
      const { origin, frontendCapability } = await launch(bob, 'chatty');
      const { nodeCredential } = platform.core.localNode;
      const anonymous = new TestBrowser(platform);
      await Promise.all([
        bob.fetch('/v1/apps/chatty/launch', { body: {} }),
        anonymous.fetch('/v1/frontend/exchange', { body: { capability: frontendCapability }, headers: { origin } }),
        bearer(platform, nodeCredential, `/v1/node/installations/${id}/starts`, {}),
        uninstall(bob, 'chatty'),
        bearer(platform, nodeCredential, `/v1/node/installations/${id}/starts`, {}),
        bob.fetch('/v1/apps/chatty/launch', { body: {} }),
      ]);
      for (const table of ['core_credentials', 'frontend_capabilities']) {
        const left = await platform.core.context.pool.query(`SELECT FROM ${table} WHERE installation_id = $1`, [id]);
        assert.equal(left.rowCount, 0, `${table} in round ${round}`);
      }
    }
  });
});

test('a stranger’s installation answers every route like one that is not there', async () => {
  await install(bob, 'chatty');
  const routes: [string, { method?: string; body?: unknown }][] = [
    ['/v1/apps/chatty/launch', { body: {} }],
    ['/v1/apps/chatty/start', { body: {} }],
    ['/v1/apps/chatty/stop', { body: {} }],
    ['/v1/apps/chatty/status', {}],
    ['/v1/apps/chatty/logs', {}],
    ['/v1/apps/chatty/upgrade', { body: { version: '1.0.0' } }],
    ['/v1/apps/chatty/permissions', {}],
    ['/v1/apps/chatty/permissions', { method: 'PUT', body: { permissions: [] } }],
    ['/v1/apps/chatty', { method: 'DELETE' }],
  ];
  for (const [path, settings] of routes) {
    const strange = await assertRefused(alice.fetch(path, settings), 404, 'not_found');
    const missing = await assertRefused(alice.fetch(path.replace('chatty', 'not-there'), settings), 404, 'not_found');
    const anonymised = ({ json }: RawAnswer) => ({ ...(json as object), requestId: '' });
    assert.deepEqual(anonymised(strange), anonymised(missing), path);
  }
  assert.deepEqual((await installationRow(platform, bob, 'chatty')).removed_at, null);
  await uninstall(bob, 'chatty');
});
