// Core without any node (`PLATFORM_LOCAL_NODE=false`): what is central works, what needs a node says so, and the first
// machine that joins takes what waited.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { openBackend } from '../support/backend.ts';
import { registerAccount } from '../support/client.ts';
import { joinNode, type NodePlace, nodePlace } from '../support/node-process.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import {
  emptyPlace,
  type LongCommand,
  type PlatformPlace,
  type PlatformProcess,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { problemCode, rawRequest } from '../support/raw-http.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let node: NodePlace;
let platform: PlatformProcess | undefined;
let joined: LongCommand | undefined;

before(async () => {
  place = await emptyPlace({ PLATFORM_LOCAL_NODE: 'false' });
  node = await nodePlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
});
after(async () => {
  await joined?.stop();
  await platform?.stop();
  await node.remove();
  await place.remove();
});

test('core works with zero nodes and says so, and with the first one everything runs', async (t) => {
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'nodeless');
  const publish = async (appId: string, more: Readonly<Record<string, unknown>>, files: Record<string, string>) =>
    account.browser.take(`/v1/catalog/${appId}/versions/1.0.0`, {
      method: 'PUT',
      body: await buildTestPackage({
        manifest: testManifest(appId, more),
        files: { 'frontend/index.html': '<!doctype html>', ...files },
      }),
      headers: { 'content-type': 'application/gzip' },
    });
  await publish('page-only', {}, {});
  await publish('with-backend', { workload: { runtime: 'node', entry: 'main.mjs' } }, { 'workload/main.mjs': SERVER });

  await t.test('the start says where backends run, and nothing of a Runtime is on this machine', async () => {
    assert.match(platform?.output() ?? '', /Workloads +none here \(PLATFORM_LOCAL_NODE=false\): they run on the nodes/);
    assert.equal(existsSync(path.join(place.dataDirectory, 'volumes')), false);
    await assert.rejects(rawRequest({ port: place.nodePort, path: '/' }), /ECONNREFUSED/);
  });

  await t.test('the operator is told that there is no node, and what to do', async () => {
    assert.match(await runCommand(['node', 'list'], place.environment), /No nodes\. .*platform node token/);
    assert.match(
      await runCommand(['ps'], place.environment),
      /^PostgreSQL +running for \d+ s\nCore +running for \d+ s\nIngress +running for \d+ s\n\nNo installed app has a backend\.\n$/,
    );
  });

  await t.test('apps without a backend install and open', async () => {
    await account.browser.take('/v1/apps', { body: { appId: 'page-only' } });
    const launch = await account.browser.take<{ backend: null }>('/v1/apps/page-only/launch', { method: 'POST' });
    assert.equal(launch.backend, null);
  });

  await t.test('an app with a backend is refused with the reason, and nothing of it stays', async () => {
    const refused = await account.fetch('/v1/apps', { body: { appId: 'with-backend' } });
    assert.deepEqual([refused.status, problemCode(refused)], [503, 'unavailable']);
    assert.match(refused.text, /runs without a node/);
    const { items } = await account.browser.take<{ items: { appId: string }[] }>('/v1/apps');
    assert.ok(!items.some(({ appId }) => appId === 'with-backend'));
  });

  await t.test('the first machine that joins runs it', async () => {
    joined = await joinNode(place, node, { name: 'first' });
    assert.match(await runCommand(['node', 'list'], place.environment), /^first +ready /m);
    await account.browser.take('/v1/apps', { body: { appId: 'with-backend' } });
    const ask = await openBackend(node, account, 'with-backend');
    const answer = await ask('/');
    assert.deepEqual([answer.status, answer.text], [200, 'here']);
  });

  await t.test('the operator steers by labels, and an account reads why nothing takes its app', async () => {
    const command = (...args: string[]) => runCommand(['node', ...args], place.environment);
    assert.match(await command('require', 'gpu', '--app', 'with-backend'), /^with-backend of every account: placed on/);
    const other = await registerAccount(place, 'latecomer');
    const refused = await other.fetch('/v1/apps', { body: { appId: 'with-backend' } });
    assert.equal(refused.status, 503);
    assert.match(refused.text, /machines labelled gpu only/);
    assert.match(await command('label', 'first', 'gpu'), /^Labels of first: gpu, platform-hosted\./);
    await other.browser.take('/v1/apps', { body: { appId: 'with-backend' } });
    assert.match(await command('reserve', 'gpu'), /^Nodes labelled gpu take only backends that it is required for/);
    assert.match(await command('list'), / gpu \(reserved\), platform-hosted$/m);
    await command('release', 'gpu', '--app', 'with-backend');
    assert.equal(await command('rules'), 'gpu is reserved (1 node; nothing requires it; 2 other apps from before)\n');
    assert.equal(await command('unreserve', 'gpu'), 'Nodes labelled gpu take all backends again.\n');
  });
});
