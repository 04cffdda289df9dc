// Deleting published versions: only their publisher, never under anybody who has them installed, and the bytes go.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { install, installationRow, nodeWorkload, publish } from '../../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../../test-support/node-double.ts';

let platform: Constellation;
let node: NodeDouble;
let publisher: TestAccount;
let user: TestAccount;

before(async () => {
  platform = await startConstellation();
  node = await startNodeDouble(platform);
  publisher = await registerAccount(platform, 'publisher');
  user = await registerAccount(platform, 'user-of-it');
});
after(async () => {
  await platform.close();
  await node.close();
});

const withdraw = (account: TestAccount, appId: string, version = '1.0.0') =>
  account.fetch(`/v1/catalog/${appId}/versions/${version}`, { method: 'DELETE' });
const uninstall = (account: TestAccount, appId: string) => account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
const filesOf = (hash: string) =>
  [`${hash}.tgz`, hash].map((name) => existsSync(path.join(platform.directory, 'packages', name)));

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('its publisher deletes a version: it is gone from the catalog and from the disk, and the same bytes may be published again', async () => {
  const { hash } = await publish(publisher, 'fleeting');
  assert.deepEqual(filesOf(hash), [true, true]);
  assert.equal((await withdraw(publisher, 'fleeting')).status, 204);
  assert.deepEqual(filesOf(hash), [false, false]);
  assertRefused(await publisher.fetch('/v1/catalog/fleeting'), 404, 'not_found');
  assertRefused(await user.fetch('/v1/apps', { body: { appId: 'fleeting' } }), 404, 'not_found');
  assertRefused(await withdraw(publisher, 'fleeting'), 404, 'not_found');
  const again = await publish(publisher, 'fleeting');
  assert.equal(again.hash, hash);
  assert.deepEqual(filesOf(hash), [true, true]);
});

test('the former version is the newest again', async () => {
  await publish(publisher, 'stepping');
  await publish(publisher, 'stepping', { version: '2.0.0' });
  assert.equal((await withdraw(publisher, 'stepping', '2.0.0')).status, 204);
  assert.equal(((await user.fetch('/v1/catalog/stepping')).json as { version: string }).version, '1.0.0');
});

test('nobody else can, and nobody those that come with the platform', async () => {
  await publish(publisher, 'guarded');
  assertRefused(await withdraw(user, 'guarded'), 403, 'not_authorized');
  assertRefused(await withdraw(publisher, 'store'), 403, 'not_authorized');
  assertRefused(await withdraw(user, 'never-there'), 404, 'not_found');
});

test('not while anybody has it installed; a removed app does not keep it, and its volume stays', async () => {
  await publish(publisher, 'kept-data', { workload: { ...nodeWorkload, volume: true, resources: { diskMiB: 50 } } });
  await publish(publisher, 'kept-data', { version: '2.0.0', workload: { ...nodeWorkload, volume: true } });
  await user.browser.take('/v1/apps', { body: { appId: 'kept-data', version: '1.0.0' } });
  assertRefused(await withdraw(publisher, 'kept-data'), 409, 'version_in_use');
  const { id } = await installationRow(platform, user, 'kept-data');
  await uninstall(user, 'kept-data');
  assert.equal((await withdraw(publisher, 'kept-data')).status, 204);
  const { volumes } = (await user.fetch('/v1/account/disk')).json as { volumes: { appId: string; bytes: number }[] };
  assert.deepEqual(
    volumes.map(({ appId, bytes }) => [appId, bytes]),
    [['kept-data', 50 * 1024 * 1024]],
  );
  await install(user, 'kept-data');
  assert.equal((await installationRow(platform, user, 'kept-data')).id, id, 'and so its volume is found');
});

test('of installations and a deletion at the same time either those are there, or the version is gone', async () => {
  const users: TestAccount[] = [];
  for (let index = 0; index < 4; index += 1) users.push(await registerAccount(platform, `racer-n${index}`));
  for (let round = 0; round < 6; round += 1) {
    const appId = `raced-${round}`;
    await publish(publisher, appId, { workload: nodeWorkload });
    // One who had it before comes back, whose row is there already.
    const [former] = users;
    if (former !== undefined) {
      await install(former, appId);
      await uninstall(former, appId);
    }
    const [deletion, ...installs] = await Promise.all([
      withdraw(publisher, appId),
      ...users.map((one) => one.fetch('/v1/apps', { body: { appId } })),
    ]);
    const installed = installs.filter(({ status }) => status === 201).length;
    for (const answer of installs) if (answer.status !== 201) assertRefused(answer, 404, 'not_found');
    if (deletion?.status === 204) assert.equal(installed, 0);
    else {
      assert.equal(deletion && problemCode(deletion), 'version_in_use');
      assert.ok(installed > 0);
    }
  }
});
