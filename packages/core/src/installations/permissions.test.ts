// Grants of installed apps: replaced within the request, effective at once, and never grown by an upgrade.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, type PermissionsView, permissionsView, type RequestedGrant } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { fc } from '../../../../tests/support/fast-check.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import {
  bearer,
  install,
  installationRow,
  nodeWorkload,
  openFrontend,
  publish,
  startedCredential,
} from '../../test-support/apps.ts';
import { excessGrants, intersectGrants, normaliseGrants } from '../grants/grant-coverage.ts';

const reading: Grant = { id: 'apps.catalog.read', resources: ['*'] };
const publishing: RequestedGrant = { id: 'notifications.publish', resources: ['news', 'research:*'], reason: 'news' };

let platform: Constellation;
let account: TestAccount;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'keeper');
  await publish(account, 'asking', { permissions: [publishing, reading], workload: nodeWorkload });
  await install(account, 'asking');
});

after(() => platform.close());

function put(appId: string, permissions: readonly Grant[]): Promise<PermissionsView> {
  return account.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions } });
}

function read(appId: string): Promise<PermissionsView> {
  return account.browser.take(`/v1/apps/${appId}/permissions`);
}

test('the owner sees what an app holds beside what it asked for and why', async () => {
  const view = await read('asking');
  assert.deepEqual(permissionsView.parse(view), view);
  assert.deepEqual(view.requested, [publishing, reading]);
  assert.deepEqual(view.permissions, [{ id: publishing.id, resources: publishing.resources }, reading]);
});

test('grants are replaced as a whole, merged and without empty ones, and the revision grows', async () => {
  const before = await read('asking');
  const chosen: Grant[] = [
    { id: 'notifications.publish', resources: ['research:a*', 'news'] },
    { id: 'apps.catalog.read', resources: [] },
    { id: 'notifications.publish', resources: ['news', 'research:b'] },
  ];
  const after = await put('asking', chosen);
  assert.deepEqual(after.permissions, [
    { id: 'notifications.publish', resources: ['research:a*', 'news', 'research:b'] },
  ]);
  assert.ok(after.revision > before.revision);
  assert.deepEqual(await read('asking'), after);
});

test('grants beyond the published request change nothing', async () => {
  const before = await read('asking');
  for (const resources of [['*'], ['researcher'], ['research*'], ['new'], ['News']]) {
    const permissions = [{ id: 'notifications.publish', resources }];
    const answer = await account.fetch('/v1/apps/asking/permissions', { method: 'PUT', body: { permissions } });
    assert.deepEqual([answer.status, problemCode(answer)], [403, 'grants_exceed_request'], resources[0]);
  }
  assert.deepEqual(await read('asking'), before);
});

test('grants of one id that together name too many resources are refused', async () => {
  const half = (letter: string): Grant => ({
    id: 'notifications.publish',
    resources: Array.from({ length: 200 }, (_, index) => `research:${letter}${index}`),
  });
  const body = { permissions: [half('a'), half('b')] };
  const answer = await account.fetch('/v1/apps/asking/permissions', { method: 'PUT', body });
  assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request']);
});

test('replacing grants needs the shell’s own origin', async () => {
  for (const origin of [undefined, 'http://evil.example', (await openFrontend(platform, account, 'asking')).origin]) {
    const answer = await account.fetch('/v1/apps/asking/permissions', {
      method: 'PUT',
      body: { permissions: [] },
      headers: { origin },
    });
    assert.deepEqual([answer.status, problemCode(answer)], [403, 'origin_not_allowed']);
  }
});

test('a revoked grant stops the next request of workload and frontend, and a granted one lets it pass', async () => {
  const { id } = await installationRow(platform, account, 'asking');
  const credential = await startedCredential(platform, id);
  const frontend = await openFrontend(platform, account, 'asking');
  const ask = async () => [
    (await bearer(platform, credential, '/v1/services/apps')).status,
    (await frontend.fetch('/v1/services/apps')).status,
  ];
  for (let round = 0; round < 5; round += 1) {
    await put('asking', [reading]);
    assert.deepEqual(await ask(), [200, 200]);
    await put('asking', []);
    assert.deepEqual(await ask(), [403, 403]);
  }
});

test('an app sees only the apps its grant names, and which of them run', async () => {
  await publish(account, 'looking', {
    permissions: [{ id: 'apps.catalog.read', resources: ['wal*', 'asking', 'not-installed'] }],
  });
  await install(account, 'looking');
  const { id } = await installationRow(platform, account, 'asking');
  const { nodeCredential } = platform.core.localNode;
  const status = {
    installationId: id,
    state: 'running',
    since: '2026-11-21T10:00:00.000Z',
    restarts: 0,
    lastExit: null,
  };
  const report = await bearer(platform, nodeCredential, '/v1/node/status', { items: [{ ...status, unenforced: [] }] });
  assert.equal(report.status, 204);
  const frontend = await openFrontend(platform, account, 'looking');
  const { items } = (await frontend.fetch('/v1/services/apps')).json as { items: unknown };
  const app = (appId: string, running: boolean) => ({
    appId,
    name: appId,
    summary: `The test app ${appId}.`,
    version: '1.0.0',
    icon: null,
    installed: true,
    running,
  });
  assert.deepEqual(items, [app('asking', true), app('wallet', false)]);
});

const resource = fc
  .tuple(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 2 }), fc.constantFrom('', '*'))
  .map(([text, star]) => text + star)
  .filter((text) => text !== '');
const request = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('notifications.publish' as const, 'notifications.read' as const, 'mcp.tools.call' as const),
    resources: fc.uniqueArray(resource, { minLength: 1, maxLength: 4 }),
  }),
  { selector: ({ id }) => id, maxLength: 3 },
);

test('an upgrade, whatever its request, adds nothing to what is held, takes nothing away, and puts in force what both sides cover', async () => {
  await publish(account, 'growing');
  await install(account, 'growing');
  const { pool } = platform.core.context;
  let minor = 0;
  await fc.assert(
    fc.asyncProperty(request, fc.array(request, { minLength: 1, maxLength: 3 }), async (first, later) => {
      const all = ({ permissions, setAside }: PermissionsView) => normaliseGrants([...permissions, ...setAside]);
      let held = all(await read('growing'));
      for (const [step, requested] of [first, ...later].entries()) {
        minor += 1;
        const version = `1.${minor}.0`;
        // Versions of one package with other requests: publishing thousands would take longer than it proves.
        await pool.query(
          `INSERT INTO app_versions (app_id, version, package_hash, manifest, newest, published_at)
           SELECT app_id, $1, package_hash, manifest || jsonb_build_object('version', $1::text, 'permissions', $2::jsonb),
                  false, published_at FROM app_versions WHERE app_id = 'growing' AND version = '1.0.0'`,
          [version, JSON.stringify(requested)],
        );
        await account.browser.take('/v1/apps/growing/upgrade', { body: { version } });
        const view = await read('growing');
        assert.deepEqual(excessGrants(held, all(view)), [], 'more than was held');
        assert.deepEqual(excessGrants(all(view), held), [], 'less than was held');
        assert.deepEqual(view.permissions, intersectGrants(held, requested));
        assert.deepEqual(excessGrants(requested, view.permissions), []);
        // The owner grants everything of the first request, so that there is something to lose.
        held = all(step === 0 ? await put('growing', normaliseGrants(requested)) : view);
      }
    }),
    { numRuns: thorough(15, 200) },
  );
});

test('what a version does not request has no effect, works again with one that does, and is gone once the owner took it', async () => {
  const topics = (...resources: string[]) => [{ id: 'notifications.publish' as const, resources }];
  await publish(account, 'aside', { permissions: topics('news', 'storms') });
  await publish(account, 'aside', { version: '2.0.0', permissions: topics('storms') });
  await publish(account, 'aside', { version: '3.0.0', permissions: topics('news', 'storms', 'tides') });
  await account.browser.take('/v1/apps', { body: { appId: 'aside', version: '1.0.0' } });
  const upgrade = async (version: string) => {
    await account.browser.take('/v1/apps/aside/upgrade', { body: { version } });
    const { permissions, setAside } = await read('aside');
    // In the order in which they came back.
    return { permissions: permissions.map((one) => ({ ...one, resources: one.resources.toSorted() })), setAside };
  };
  const both = { permissions: topics('news', 'storms'), setAside: [] };
  assert.deepEqual(await upgrade('2.0.0'), { permissions: topics('storms'), setAside: topics('news') });
  assert.deepEqual(await upgrade('1.0.0'), both);
  await upgrade('2.0.0');
  assert.deepEqual(await upgrade('3.0.0'), both);
  await upgrade('2.0.0');
  const { setAside } = await put('aside', []);
  assert.deepEqual(setAside, [], 'who takes some of a permission takes what was set aside of it');
  assert.deepEqual(await upgrade('3.0.0'), { permissions: [], setAside: [] });
  await put('aside', topics('news'));
  await upgrade('2.0.0');
  await account.fetch('/v1/apps/aside', { method: 'DELETE' });
  await account.browser.take('/v1/apps', { body: { appId: 'aside', version: '2.0.0', permissions: [] } });
  assert.deepEqual(await upgrade('3.0.0'), { permissions: [], setAside: [] }, 'a new installation begins anew');
});

test('an upgrade and a replacement at the same time never leave more than the request of the version', async () => {
  await publish(account, 'racing', { permissions: [{ id: 'notifications.publish', resources: ['*'] }] });
  await publish(account, 'racing', {
    version: '2.0.0',
    permissions: [{ id: 'notifications.publish', resources: ['news'] }],
  });
  await account.browser.take('/v1/apps', { body: { appId: 'racing', version: '1.0.0' } });
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([
      account.fetch('/v1/apps/racing/upgrade', { body: { version: round % 2 === 0 ? '2.0.0' : '1.0.0' } }),
      account.fetch('/v1/apps/racing/permissions', {
        method: 'PUT',
        body: { permissions: [{ id: 'notifications.publish', resources: ['*'] }] },
      }),
    ]);
    const view = await read('racing');
    assert.deepEqual(excessGrants(view.requested, view.permissions), [], `round ${round}`);
  }
});

test('an update opens no route or port that the former version did not declare, however wide the grant', async () => {
  const permissions: Grant[] = [
    { id: 'endpoints.public', resources: ['*'] },
    { id: 'endpoints.public.udp', resources: ['*'] },
  ];
  const game = { name: 'game', protocol: 'udp', containerPort: 7777 };
  const voice = { name: 'voice', protocol: 'udp', containerPort: 'auto' };
  const first = {
    permissions,
    workload: nodeWorkload,
    publicEndpoints: ['GET:/feed', 'WS:/live'],
    publicPorts: [game],
  };
  const second = { ...first, publicEndpoints: ['GET:/*', 'WS:/live'], publicPorts: [game, voice] };
  await publish(account, 'opening', first);
  await publish(account, 'opening', { ...second, version: '2.0.0' });
  await account.browser.take('/v1/apps', { body: { appId: 'opening', version: '1.0.0' } });
  assert.deepEqual((await read('opening')).permissions, permissions);
  await account.browser.take('/v1/apps/opening/upgrade', { body: { version: '2.0.0' } });
  const kept = [
    { id: 'endpoints.public', resources: ['GET:/feed', 'WS:/live'] },
    { id: 'endpoints.public.udp', resources: ['UDP:7777'] },
  ];
  assert.deepEqual((await read('opening')).permissions, kept);
});

test('going back to a former version is allowed and brings back what that version was granted', async () => {
  await publish(account, 'returning', { permissions: [reading] });
  await publish(account, 'returning', { version: '2.0.0' });
  await account.browser.take('/v1/apps', { body: { appId: 'returning', version: '1.0.0' } });
  await account.browser.take('/v1/apps/returning/upgrade', { body: { version: '2.0.0' } });
  await account.browser.take('/v1/apps/returning/upgrade', { body: { version: '1.0.0' } });
  const view = await read('returning');
  assert.deepEqual([view.permissions, view.requested], [[reading], [reading]]);
  const missing = await account.fetch('/v1/apps/returning/upgrade', { body: { version: '3.0.0' } });
  assert.deepEqual([missing.status, problemCode(missing)], [404, 'not_found']);
});

test('a grant revoked at one replica ends at the other', async () => {
  const { id } = await installationRow(platform, account, 'asking');
  await put('asking', [reading]);
  const credential = await startedCredential(platform, id);
  const other = await platform.replica();
  const elsewhere = { port: other.port, origin: other.context.config.origin };
  assert.equal((await bearer(elsewhere, credential, '/v1/services/apps')).status, 200);
  const signalled = new Promise((resolve) => other.context.signals.on('installation-changed', resolve));
  await put('asking', []);
  await signalled;
  assert.equal((await bearer(elsewhere, credential, '/v1/services/apps')).status, 403);
});
