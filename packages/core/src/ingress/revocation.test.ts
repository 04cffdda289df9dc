// What takes a public name away is answered when every Ingress that is there has carried it out, and no later than after
// two seconds.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Grant, publicAddress } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { install, publish } from '../../test-support/apps.ts';
import { callAs, followTopology, joinTestIngress, type TestIngress } from '../../test-support/ingress.ts';
import { resumeSuspended, suspendAccount } from '../accounts/suspension/suspend-account.ts';
import { readConfiguration } from '../config/env.ts';
import { openLocalCore } from '../local-core.ts';
import { pendingFollowers } from '../members/follower-queries.ts';
import { removeIngress } from './ingresses.ts';

const open: Grant = { id: 'endpoints.public', resources: ['GET:/*'] };

let platform: Constellation;
let owner: TestAccount;
let ingress: TestIngress;
let credential: string;

before(async () => {
  platform = await startConstellation();
  owner = await registerAccount(platform, 'publisher');
  await publish(owner, 'revoked', {
    workload: { runtime: 'node', entry: 'main.js' },
    publicEndpoints: ['GET:/*'],
    permissions: [open],
  });
  ({ ingressCredential: credential } = await joinTestIngress(platform, 'slow'));
  ingress = await followTopology(platform, credential);
  ingress.applies = false;
});
after(() => platform.close());
afterEach(async () => {
  await confirm();
  await owner.fetch('/v1/apps/revoked', { method: 'DELETE' });
});

async function anInstalledApp(): Promise<string> {
  await install(owner, 'revoked', [open]);
  const { hostname } = publicAddress.parse(await owner.browser.take('/v1/apps/revoked/public'));
  await ingress.until(({ routes }) => routes.has(String(hostname)));
  await confirm();
  return String(hostname);
}

/** Says that all it was sent is in effect. */
async function confirm(): Promise<void> {
  const answer = await callAs(platform, credential, 'applied', { revision: ingress.revision() ?? '0' });
  assert.equal(answer.status, 204, answer.text);
}

/** Runs a change; it may not be answered before the Ingress has confirmed that `hostname` is gone. */
async function waitsFor(hostname: string, change: () => Promise<unknown>): Promise<void> {
  let answered = false;
  const begun = performance.now();
  const changing = change().then(() => {
    answered = true;
  });
  await ingress.until(({ routes }) => !routes.has(hostname));
  if (performance.now() - begun < 1_500) assert.equal(answered, false, 'it was answered before the confirmation');
  await confirm();
  await changing;
}

const permissions = (grants: readonly Grant[]) =>
  owner.browser.take('/v1/apps/revoked/permissions', { method: 'PUT', body: { permissions: grants } });

test('new permissions wait, and so do a removal, a renewal and a pause', async () => {
  await waitsFor(await anInstalledApp(), () => permissions([]));
  await permissions([open]);
  const address = publicAddress.parse(await owner.browser.take('/v1/apps/revoked/public'));
  await ingress.until(({ routes }) => routes.has(String(address.hostname)));
  await waitsFor(String(address.hostname), () => owner.browser.take('/v1/apps/revoked/public/renew', { body: {} }));
  const renewed = publicAddress.parse(await owner.browser.take('/v1/apps/revoked/public'));
  await ingress.until(({ routes }) => routes.has(String(renewed.hostname)));
  await waitsFor(String(renewed.hostname), () => owner.browser.take('/v1/runtime/pause', { body: {} }));
  await owner.browser.take('/v1/runtime/resume', { body: {} });
  await ingress.until(({ routes }) => routes.has(String(renewed.hostname)));
  await waitsFor(String(renewed.hostname), () => owner.fetch('/v1/apps/revoked', { method: 'DELETE' }));
});

test('an Ingress that does not confirm delays the answer by two seconds; nobody waits for one that is silent', async () => {
  await anInstalledApp();
  const begun = performance.now();
  await permissions([]);
  assert.ok(performance.now() - begun >= 1_990, 'it waited');
  const { database, pool } = platform.core.context;
  const waited = { follows: 'topology', revision: 2n ** 40n, followerIds: null, silentMilliseconds: 25_000 };
  assert.equal((await pendingFollowers(database, waited)).length, 1);
  await pool.query("UPDATE followers SET at = at - interval '26 seconds' WHERE follows = 'topology'");
  assert.deepEqual(await pendingFollowers(database, waited), []);
});

test('nobody waits for an Ingress that was removed', async () => {
  await anInstalledApp();
  const { ingressCredential } = await joinTestIngress(platform, 'silent');
  const silent = await followTopology(platform, ingressCredential);
  silent.applies = false;
  await removeIngress(platform.core.context, 'silent');
  await silent.ended;
  const { rows } = await platform.core.context.pool.query(
    "SELECT FROM followers f WHERE follows = 'topology' AND NOT EXISTS (SELECT FROM ingresses g WHERE g.id = f.follower_id)",
  );
  assert.equal(rows.length, 0);
});

test('a suspension by a command of the operator waits too, though that process receives no signals', async () => {
  const tenant = await registerAccount(platform, 'suspended');
  await install(tenant, 'revoked', [open]);
  const hostname = String(publicAddress.parse(await tenant.browser.take('/v1/apps/revoked/public')).hostname);
  await ingress.until(({ routes }) => routes.has(hostname));
  await confirm();
  const { context } = platform.core;
  const config = readConfiguration({ PLATFORM_DATA_DIR: platform.directory }, { isRoot: false, home: '/nowhere' });
  const { databaseUrl } = platform;
  const command = await openLocalCore({ config, databaseUrl, masterKey: context.masterKey, nodeKey: Buffer.alloc(32) });
  try {
    await waitsFor(hostname, () => suspendAccount(command.context, 'suspended'));
    await resumeSuspended(command.context, 'suspended');
    await ingress.until(({ routes }) => routes.has(hostname));
  } finally {
    await command.close();
  }
});
