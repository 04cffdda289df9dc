// An update and the way back while the backend runs, on a real node: the next request finds the version that was chosen, and
// the data of the one before.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InstallationId, WorkloadStatus } from '@platform/contract';
import { installationRow } from '../../packages/core/test-support/apps.ts';
import { registerAccount, type TestAccount, TestBrowser } from '../support/client.ts';
import { type Constellation, newNodeKey, startConstellation } from '../support/constellation.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

/** Answers with its version, and with every version that wrote to the volume. */
const workload = (version: string) => `
  const http = process.getBuiltinModule('node:http');
  const { appendFileSync, readFileSync } = process.getBuiltinModule('node:fs');
  const file = process.env.PLATFORM_VOLUME_DIR + '/versions';
  appendFileSync(file, '${version} ');
  http.createServer((request, response) => {
    if (request.url !== '/hold') response.end('${version}: ' + readFileSync(file, 'utf8').trim());
  }).listen(Number(process.env.PORT));
`;

let world: Constellation;
let node: RealNode;
let account: TestAccount;
let id: InstallationId;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  account = await registerAccount(world, 'updater');
  for (const version of ['1.0.0', '2.0.0']) {
    const manifest = { version, workload: { runtime: 'node', entry: 'main.mjs', volume: true } };
    await publishTestApp(account, 'moving', manifest, {
      'workload/main.mjs': workload(version),
      'frontend/index.html': '',
    });
  }
  await account.browser.take('/v1/apps', { body: { appId: 'moving', version: '1.0.0' } });
  id = (await installationRow(world, account, 'moving')).id;
});
after(async () => {
  await node?.stop();
  await world?.close();
});

function call(path: string) {
  return world.core.context.backends.call(id, { method: 'GET', path, signal: AbortSignal.timeout(60_000) });
}

/** What the backend says, once it is this version: until the node carried the change out, the former one may answer. */
async function answerOf(version: string): Promise<string> {
  const asked = async () => {
    const text = await call('/').then(
      async (answer) => (await answer.read(1_024)).toString('utf8'),
      () => '',
    );
    return text.startsWith(`${version}:`) ? text : undefined;
  };
  return await until(`version ${version} to answer`, asked, 120_000);
}

const upgrade = (browser: TestBrowser, version: string) =>
  browser.take('/v1/apps/moving/upgrade', { body: { version } });

test('an update ends what runs, also a request in the middle; going back finds the data of both', async () => {
  // A replica whose machine runs no workloads.
  const { publicKey } = newNodeKey();
  const localNode = { publicKey, name: 'none', inherits: false, leased: false, runtime: false };
  const other = await world.replica({ localNode });
  const elsewhere = new TestBrowser({ port: other.port, origin: other.context.config.origin });
  elsewhere.cookie = account.cookie;
  assert.equal(await answerOf('1.0.0'), '1.0.0: 1.0.0');
  const held = call('/hold').then(
    () => 'answered',
    () => 'ended',
  );
  await upgrade(elsewhere, '2.0.0');
  assert.equal(await answerOf('2.0.0'), '2.0.0: 1.0.0 2.0.0');
  assert.equal(await held, 'ended');
  await upgrade(account.browser, '1.0.0');
  assert.equal(await answerOf('1.0.0'), '1.0.0: 1.0.0 2.0.0 1.0.0');
  const status = await account.browser.take<WorkloadStatus>('/v1/apps/moving/status');
  assert.deepEqual([status.state, status.restarts], ['running', 0], 'a change of version is no failure');
});
