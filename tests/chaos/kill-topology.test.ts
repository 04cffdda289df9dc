// Core is killed right before and right after the commit of each change that opens or closes a public name. An Ingress of
// another core has the name exactly when the change was committed, and so has one that begins anew.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, publicAddress } from '@platform/contract';
import type { Point } from '@platform/core';
import { install, publish } from '../../packages/core/test-support/apps.ts';
import { followTopology, localCredential, type TestIngress } from '../../packages/core/test-support/ingress.ts';
import { type RequestSettings, registerAccount, type TestAccount, TestBrowser } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { startCoreProcess } from '../support/core-process.ts';

const APP = 'on-the-internet';
const open: Grant = { id: 'endpoints.public', resources: ['GET:/*'] };
const permissions = (grants: readonly Grant[]) => ({ method: 'PUT', body: { permissions: grants } });

let world: Constellation;
let account: TestAccount;
let ingress: TestIngress;

before(async () => {
  world = await startConstellation();
  account = await registerAccount(world, 'mortal');
  await publish(account, APP, {
    workload: { runtime: 'node', entry: 'main.js' },
    publicEndpoints: ['GET:/*'],
    permissions: [open],
  });
  await install(account, APP, [open]);
  ingress = await followTopology(world, localCredential(world.core));
});
after(() => world.close());

/** A request to a core that dies at this moment; it gets no answer. */
async function dying(dieAt: Point, path: string, settings: RequestSettings): Promise<void> {
  const core = await startCoreProcess(world, { dieAt });
  const browser = new TestBrowser(core);
  browser.cookie = account.cookie;
  await assert.rejects(browser.fetch(path, settings), /ECONNRESET|socket hang up/);
  await core.kill();
}

/** Whether the app has a name that the Ingress knows; one that begins anew knows the same. */
async function isPublic(): Promise<boolean> {
  const { pool } = world.core.context;
  const { rows } = await pool.query<{ revision: string }>('SELECT revision::text FROM topology_state');
  await ingress.until(({ revision }) => BigInt(revision() ?? 0) >= BigInt(rows[0]?.revision ?? 0));
  const anew = await followTopology(world, localCredential(world.core));
  assert.deepEqual([...anew.routes], [...ingress.routes]);
  anew.close();
  const address = await account.fetch(`/v1/apps/${APP}/public`);
  const hostname = address.status === 200 ? publicAddress.parse(address.json).hostname : null;
  const known = hostname !== null && ingress.routes.has(hostname);
  assert.equal(ingress.routes.size, known ? 1 : 0);
  return known;
}

const changes = [
  {
    what: 'a revocation',
    point: 'installations.permissions',
    path: `/v1/apps/${APP}/permissions`,
    settings: permissions([]),
    opens: false,
  },
  {
    what: 'a grant',
    point: 'installations.permissions',
    path: `/v1/apps/${APP}/permissions`,
    settings: permissions([open]),
    opens: true,
  },
  { what: 'a pause', point: 'pause', path: '/v1/runtime/pause', settings: { body: {} }, opens: false },
  {
    what: 'a removal',
    point: 'installations.uninstall',
    path: `/v1/apps/${APP}`,
    settings: { method: 'DELETE' },
    opens: false,
  },
  {
    what: 'an installation',
    point: 'installations.install',
    path: '/v1/apps',
    settings: { body: { appId: APP, permissions: [open] } },
    opens: true,
  },
] as const;

for (const { what, point, path, settings, opens } of changes)
  test(`${what} that was not committed changes no public name; one that was has changed it for every Ingress`, async () => {
    // As it was before the change, whatever went before.
    await account.fetch('/v1/runtime/resume', { body: {} });
    if (what === 'an installation') await account.fetch(`/v1/apps/${APP}`, { method: 'DELETE' });
    else await account.fetch('/v1/apps', { body: { appId: APP } });
    const grants = opens ? [] : [open];
    if (what !== 'an installation') await account.browser.take(`/v1/apps/${APP}/permissions`, permissions(grants));
    assert.equal(await isPublic(), !opens);
    await dying(`${point}.committing`, path, settings);
    assert.equal(await isPublic(), !opens);
    await dying(`${point}.committed`, path, settings);
    assert.equal(await isPublic(), opens);
  });
