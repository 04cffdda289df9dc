// Disk space at placement: what was promised to volumes fits on their node in sum.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { bearer, install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { type JoinedNode, joinTestNode, registerLocalMachine } from '../../test-support/joined-node.ts';
import { listNodes } from '../nodes/manage-nodes.ts';

let platform: Constellation;
let publisher: TestAccount;
let accounts: TestAccount[] = [];
let others: JoinedNode[] = [];
let count = 0;

before(async () => {
  platform = await startConstellation();
  publisher = await registerAccount(platform, 'publisher');
});
after(() => platform.close());

beforeEach(async () => {
  const { pool } = platform.core.context;
  await pool.query("DELETE FROM installations WHERE app_id LIKE 'disk-%'");
  for (const { name } of others) await pool.query('DELETE FROM nodes WHERE name = $1', [name]);
  others = [];
  accounts = [];
  for (let index = 0; index < 4; index += 1) {
    count += 1;
    accounts.push(await registerAccount(platform, `tenant-n${count}`));
  }
  await registerLocalMachine(platform, { diskMiB: 2_500 });
});

const account = (index: number): TestAccount => accounts[index] ?? assert.fail();

async function anApp(diskMiB: number, version = '1.0.0', appId?: string): Promise<string> {
  count += 1;
  const id = appId ?? `disk-${count}`;
  await publish(publisher, id, { version, workload: { ...nodeWorkload, volume: true, resources: { diskMiB } } });
  return id;
}

const tryInstall = (who: TestAccount, appId: string, version?: string) =>
  who.fetch('/v1/apps', { body: { appId, ...(version === undefined ? {} : { version }) } });

function assertRefused(answer: RawAnswer, words: RegExp): void {
  assert.deepEqual([answer.status, problemCode(answer)], [503, 'unavailable'], answer.text);
  assert.match(answer.text, words);
}

test('many volumes within each limit are refused when they do not fit on a node in sum', async () => {
  const appId = await anApp(1_000);
  await install(account(0), appId);
  await install(account(1), appId);
  assertRefused(await tryInstall(account(2), appId), /room for the backend .* 1000 MiB of disk/);
  await install(account(2), await anApp(500));
});

test('of many at the same time exactly as many pass as there is disk for', async () => {
  const appId = await anApp(600);
  const other = await anApp(600);
  const answers = await Promise.all(accounts.flatMap((one) => [tryInstall(one, appId), tryInstall(one, other)]));
  const installed = answers.filter(({ status }) => status === 201).length;
  assert.equal(installed, 4);
});

test('a volume that stayed behind keeps its place, and is found there', async () => {
  const appId = await anApp(2_000);
  await install(account(0), appId);
  await account(0).fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
  assertRefused(await tryInstall(account(1), appId), /disk/);
  const [node] = await listNodes(platform.core.context);
  assert.deepEqual([node?.disk_mib, node?.disk_promised_mib, node?.disk_full], [2_500, 2_000, false]);
  await install(account(0), appId);
});

test('another node with disk left takes it', async () => {
  const second = await joinTestNode(platform, 'second', { machine: { diskMiB: 5_000 } });
  others.push(second);
  const appId = await anApp(3_000);
  await install(account(0), appId);
  assert.equal((await installationRow(platform, account(0), appId)).node_id, second.id);
});

test('a volume grows with an upgrade as far as its node has disk', async () => {
  const appId = await anApp(1_000);
  await anApp(2_501, '2.0.0', appId);
  await anApp(2_500, '3.0.0', appId);
  await tryInstall(account(0), appId, '1.0.0');
  const upgrade = (version: string) =>
    account(0).fetch(`/v1/apps/${appId}/upgrade`, { body: { version, acceptResources: true } });
  assertRefused(await upgrade('2.0.0'), /grow by 1\.5 GiB/);
  assert.equal((await upgrade('3.0.0')).status, 200);
});

test('a node that did not say what disk it has takes what comes', async () => {
  await registerLocalMachine(platform, {});
  await install(account(0), await anApp(20_000));
});

test('a node whose disk is full takes no backend until it has space again, and people register all the same', async () => {
  const plain = `plain-${count}`;
  await publish(publisher, plain, { workload: nodeWorkload });
  const { nodeCredential } = platform.core.localNode;
  const beat = (diskFull: boolean) =>
    bearer(platform, nodeCredential, '/v1/node/heartbeat', diskFull ? { diskFull } : {});
  assert.equal((await beat(true)).status, 200);
  assertRefused(await tryInstall(account(0), plain), /disk of every machine/);
  await registerAccount(platform, `newcomer-n${count}`);
  assert.equal((await beat(false)).status, 200);
  await install(account(0), plain);
});
