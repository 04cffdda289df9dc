// What core sends to a node, and that it concerns the node's own installations only.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { type Assignments, assignments, type InstallationStatus } from '@platform/contract';
import { irohAddressText } from '@platform/link';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import {
  addNode,
  bearer,
  install,
  installationRow,
  launch,
  nodeWorkload,
  publish,
  startedCredential,
} from '../../test-support/apps.ts';
import { joinTestNode, testMachine } from '../../test-support/joined-node.ts';
import { controlCredential, register } from '../../test-support/node-double.ts';
import { packageFile } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import type { Signals } from '../database/signals.ts';
import { Nodes } from './nodes.ts';
import { registerNode } from './register-node.ts';

let platform: Constellation;
let account: TestAccount;
let stranger: { id: string; credential: string };
let blob: { hash: string; body: Buffer };

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'tenant');
  stranger = await addNode(platform, 'stranger');
  blob = await publish(account, 'worker', {
    workload: { ...nodeWorkload, mode: 'always' },
    permissions: [{ id: 'apps.catalog.read', resources: ['*'] }],
  });
  await install(account, 'worker');
});

after(() => platform.close());

function local(path: string, body?: unknown): Promise<RawAnswer> {
  return bearer(platform, platform.core.localNode.nodeCredential, path, body);
}

async function assigned(after?: string): Promise<Assignments> {
  const answer = await local(`/v1/node/assignments${after === undefined ? '' : `?after=${after}`}`);
  assert.equal(answer.status, 200, answer.text);
  return assignments.parse(answer.json);
}

/** What is assigned of one app. */
async function assignmentOf(appId: string) {
  return (await assigned()).items.find((item) => item.appId === appId);
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('an assignment says what to run, from which package, and who may reach it', async () => {
  const row = await installationRow(platform, account, 'worker');
  const { origin } = await launch(account, 'worker');
  const { items } = await assigned();
  assert.equal(items.length, 1, 'apps without a workload are not assigned');
  const { workload, ...rest } = items[0] ?? assert.fail();
  assert.deepEqual(rest, {
    installationId: row.id,
    appId: 'worker',
    appOrigin: origin,
    endpointId: row.endpoint_id,
    clientsRevision: 0,
    desired: 'always',
    paused: false,
    packageHash: blob.hash,
    version: '1.0.0',
    network: { public: false, tunnel: false },
    udpPorts: [],
    objectStorage: false,
    gateway: { revision: 1 },
  });
  assert.deepEqual([workload.entry, workload.mode, workload.port], ['main.js', 'always', 8080]);
});

test('another node sees nothing of it', async () => {
  const { id } = await installationRow(platform, account, 'worker');
  const ask = (path: string, body?: unknown) => bearer(platform, stranger.credential, path, body);
  assert.deepEqual(((await ask('/v1/node/assignments')).json as Assignments).items, []);
  assertRefused(await ask(`/v1/node/installations/${id}/starts`, {}), 404, 'not_found');
  assertRefused(await ask(`/v1/node/packages/${blob.hash}`), 404, 'not_found');
});

test('the list is answered at once when it is another one, and waits for a change when it is known', async () => {
  const { revision } = await assigned();
  assert.equal((await assigned('0')).revision, revision);
  assert.equal((await assigned('not-a-revision')).revision, revision);
  const changes: [string, () => Promise<unknown>][] = [
    ['stop', () => account.fetch('/v1/apps/worker/stop', { body: {} })],
    ['start', () => account.fetch('/v1/apps/worker/start', { body: {} })],
    [
      'install',
      async () => {
        await publish(account, 'late-worker', { workload: nodeWorkload });
        await publish(account, 'late-worker', { workload: nodeWorkload, version: '2.0.0' });
        await account.browser.take('/v1/apps', { body: { appId: 'late-worker', version: '1.0.0' } });
      },
    ],
    ['upgrade', () => account.browser.take('/v1/apps/late-worker/upgrade', { body: { version: '2.0.0' } })],
    ['remove', () => account.fetch('/v1/apps/late-worker', { method: 'DELETE' })],
  ];
  let known = revision;
  for (const [what, change] of changes) {
    const [next] = await Promise.all([assigned(known), change()]);
    assert.notEqual(next.revision, known, what);
    known = next.revision;
  }
});

test('a change of grants that no node carries out is none for the node', async () => {
  const { revision } = await assigned();
  const permissions = [{ id: 'apps.catalog.read', resources: ['*'] }];
  await account.browser.take('/v1/apps/worker/permissions', { method: 'PUT', body: { permissions } });
  assert.equal((await assigned()).revision, revision);
});

test('the desired state "stopped" and a suspended account stop a workload', async () => {
  const { pool } = platform.core.context;
  const desired = async () => (await assignmentOf('worker'))?.desired;
  await account.fetch('/v1/apps/worker/stop', { body: {} });
  assert.equal(await desired(), 'stopped');
  await account.fetch('/v1/apps/worker/start', { body: {} });
  assert.equal(await desired(), 'always');
  await pool.query("UPDATE accounts SET suspended_at = now() WHERE name = 'tenant'");
  assert.equal(await desired(), 'stopped');
  await pool.query("UPDATE accounts SET suspended_at = NULL WHERE name = 'tenant'");
});

test('a poll that is aborted leaves nothing behind, and a platform that stops waits for no poll', async () => {
  const own = await startConstellation();
  const { nodeCredential } = own.core.localNode;
  const first = await bearer(own, nodeCredential, '/v1/node/assignments');
  const path = `/v1/node/assignments?after=${(first.json as Assignments).revision}`;
  const headers = { host: new URL(own.origin).host, authorization: `Bearer ${nodeCredential}` };
  const listeners = countListeners(own.core.context.signals);
  const request = http.get({ host: '127.0.0.1', port: own.port, path, headers, agent: false });
  request.on('error', () => undefined);
  await until(() => listeners() === 1);
  request.destroy();
  await until(() => listeners() === 0);
  const waiting = bearer(own, nodeCredential, path).catch((error: unknown) => error);
  await until(() => listeners() === 1);
  const before = performance.now();
  await own.close();
  await waiting;
  assert.ok(performance.now() - before < 10_000);
});

/** How many long polls listen for changes from here on. */
function countListeners(signals: Signals): () => number {
  const on = signals.on.bind(signals);
  let count = 0;
  signals.on = (name, listener) => {
    const off = on(name, listener);
    if (name !== 'assignments-changed') return off;
    count += 1;
    return () => {
      count -= 1;
      off();
    };
  };
  return () => count;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('each workload start has a credential of its own, and the former one is dead', async () => {
  const { id } = await installationRow(platform, account, 'worker');
  const services = async (credential: string) => (await bearer(platform, credential, '/v1/services/apps')).status;
  const first = await startedCredential(platform, id);
  assert.match(first, /^pcs_[\w-]{43}$/);
  assert.equal(await services(first), 200);
  const answer = (await local(`/v1/node/installations/${id}/starts`, {})).json as {
    coreServiceCredential: string;
    epoch: number;
  };
  assert.deepEqual([await services(first), await services(answer.coreServiceCredential)], [401, 200]);
  const next = (await local(`/v1/node/installations/${id}/starts`, {})).json as { epoch: number };
  assert.equal(next.epoch, answer.epoch + 1);
});

test('of many starts at once the one with the highest epoch holds the only live credential', async () => {
  const { id } = await installationRow(platform, account, 'worker');
  const starts = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const answer = await local(`/v1/node/installations/${id}/starts`, {});
      return answer.json as { coreServiceCredential: string; epoch: number };
    }),
  );
  starts.sort((a, b) => a.epoch - b.epoch);
  assert.equal(new Set(starts.map(({ epoch }) => epoch)).size, starts.length);
  const live = await Promise.all(
    starts.map(async ({ coreServiceCredential }) => {
      return (await bearer(platform, coreServiceCredential, '/v1/services/apps')).status;
    }),
  );
  assert.deepEqual(live, [...Array(starts.length - 1).fill(401), 200]);
});

test('a core service credential and a node credential never come from a browser', async () => {
  const { id } = await installationRow(platform, account, 'worker');
  const credential = await startedCredential(platform, id);
  const headers = { origin: platform.origin, cookie: undefined };
  for (const [token, path] of [
    [credential, '/v1/services/apps'],
    [platform.core.localNode.nodeCredential, '/v1/node/assignments'],
  ] as const) {
    const answer = await account.fetch(path, { headers: { ...headers, authorization: `Bearer ${token}` } });
    assertRefused(answer, 403, 'origin_not_allowed');
  }
});

test('a node fetches the package of what it runs, byte for byte, and no other', async () => {
  const headers = {
    host: new URL(platform.origin).host,
    authorization: `Bearer ${platform.core.localNode.nodeCredential}`,
  };
  const path = `/v1/node/packages/${blob.hash}`;
  const fetched = await new Promise<Buffer>((resolve, reject) => {
    http.get({ host: '127.0.0.1', port: platform.port, path, headers, agent: false }, (response) => {
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers['content-type'], 'application/gzip');
      assert.equal(response.headers['content-length'], String(blob.body.length));
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', reject);
    });
  });
  assert.equal(createHash('sha256').update(fetched).digest('hex'), blob.hash);
  const { hash: unassigned } = await publish(account, 'not-installed', { workload: nodeWorkload });
  assertRefused(await local(`/v1/node/packages/${unassigned}`), 404, 'not_found');
  assertRefused(await local('/v1/node/packages/..%2f..%2fmaster.key'), 400, 'invalid_path');
});

test('a node reports its own installations; what it says of others is dropped', async () => {
  const { pool } = platform.core.context;
  const { id } = await installationRow(platform, account, 'worker');
  const status = (more: Partial<InstallationStatus> = {}) => ({
    installationId: id,
    state: 'failed',
    since: '2026-11-21T10:00:00.000Z',
    restarts: 2,
    reason: 'it wrote \u0000 and half \ud800 a pair',
    lastExit: { at: '2026-11-21T10:00:01.000Z', reason: 'signal SIGKILL\u0000' },
    unenforced: ['memory'],
    ...more,
  });
  const stored = async () => {
    const { rows } = await pool.query('SELECT * FROM installation_status WHERE installation_id = $1', [id]);
    return rows[0];
  };
  const report = { items: [status({ restarts: 1 }), status({ restarts: Number.MAX_SAFE_INTEGER }), status()] };
  assert.equal((await local('/v1/node/status', report)).status, 204);
  const kept = await stored();
  assert.deepEqual(kept, {
    installation_id: id,
    node_id: platform.core.localNode.nodeId,
    state: 'failed',
    since: new Date('2026-11-21T10:00:00.000Z'),
    reason: 'it wrote and half a pair',
    restarts: 2,
    last_exit: { at: '2026-11-21T10:00:01.000Z', reason: 'signal SIGKILL' },
    unenforced: ['memory'],
  });
  const lie = await bearer(platform, stranger.credential, '/v1/node/status', { items: [status({ restarts: 9 })] });
  assert.equal(lie.status, 204);
  assert.deepEqual(await stored(), kept);
  assert.equal((await local('/v1/node/status', { items: [] })).status, 204);
  assert.equal((await local('/v1/node/status', { items: [status({ lastExit: null })] })).status, 204);
  assert.equal((await stored())?.last_exit, null);
});

test('a node says where it is reached; core goes nowhere but to this machine', async () => {
  const good = { controlUrl: 'http://127.0.0.1:9/control', controlCredential, inboundOrigin: 'https://node.example' };
  const bad = [
    { controlUrl: 'http://169.254.169.254/control' },
    { controlUrl: 'http://10.0.0.1:9/control' },
    { controlUrl: 'http://localhost:9/control' },
    { controlUrl: 'http://127.0.0.1.example:9/' },
    { controlUrl: 'https://user:pass@127.0.0.1:9/control' },
    { controlUrl: 'http://user:pass@127.0.0.1:9/control' },
    { controlUrl: 'http://127.0.0.1:9/control?x=1' },
    { controlUrl: 'file:///etc/passwd' },
    { inboundOrigin: 'https://node.example/path' },
    { inboundOrigin: 'https://node.example/' },
    { inboundOrigin: 'ftp://node.example' },
    { inboundOrigin: 'https://a;script-src *' },
    { inboundOrigin: 'https://a;b' },
    { inboundOrigin: 'https://user@node.example' },
  ];
  for (const change of bad)
    assertRefused(await local('/v1/node/register', { ...good, ...change }), 400, 'invalid_request');
  assert.equal((await local('/v1/node/register', good)).status, 204);
});

test('a node on another machine is reached over its key only; core never calls its own loopback for it', async () => {
  const remote = await joinTestNode(platform, 'remote');
  const body = { controlUrl: 'http://127.0.0.1:9/control', controlCredential, inboundOrigin: 'https://node.example' };
  assertRefused(await remote.call('/v1/node/register', body), 400, 'invalid_request');
  const { id } = await installationRow(platform, account, 'worker');
  const others = new Nodes(platform.core.context, () => remote.id);
  const before = platform.log.length;
  await register(platform, 'http://127.0.0.1:9/control');
  await assert.rejects(others.status(id), /workload_unavailable/);
  assert.match(JSON.stringify(platform.log.slice(before), errorText), /machine of another core only/);
});

test('where nodes are on other machines, none registers an address that means whichever machine uses it', async () => {
  const { id, key } = await joinTestNode(platform, 'elsewhere');
  const { context } = platform.core;
  const wide: CoreContext = Object.assign(Object.create(context), {
    linkListen: { host: '0.0.0.0', port: 8790 },
    config: { ...context.config, origin: 'https://cloud.example' },
  });
  const good = {
    controlUrl: 'https://10.3.0.9:8790/control',
    controlCredential,
    inboundOrigin: 'https://elsewhere.example',
    publicSide: { url: 'https://[fd12::9]:8791', credential: `pni_${'a'.repeat(43)}` },
    machine: testMachine,
  };
  await registerNode(wide, id, good);
  const over = (more: object) => irohAddressText({ key: key.publicKey, service: 'control', ...more });
  for (const change of [
    { controlUrl: 'https://127.0.0.1:5432/control' },
    { controlUrl: 'https://[::1]:5432/control' },
    { controlUrl: 'https://[::ffff:7f00:1]:5432/control' },
    { controlUrl: 'https://169.254.169.254/control' },
    { controlUrl: 'https://localhost:5432/control' },
    { controlUrl: over({ direct: ['127.0.0.1:53'] }) },
    { controlUrl: over({ relay: 'http://169.254.169.254/' }) },
    { inboundOrigin: 'http://127.0.0.1:631' },
    { inboundOrigin: 'https://printer.localhost' },
    { publicSide: { ...good.publicSide, url: 'https://0.0.0.0:8791' } },
  ])
    await assert.rejects(registerNode(wide, id, { ...good, ...change }), /invalid_request/, JSON.stringify(change));
});

function errorText(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}

test('a package that is missing in the store is said to be, in words for the owner of the app', async () => {
  const file = packageFile(platform.core.context, blob.hash);
  renameSync(file, `${file}.away`);
  try {
    const answer = await bearer(platform, platform.core.localNode.nodeCredential, `/v1/node/packages/${blob.hash}`);
    assertRefused(answer, 503, 'unavailable');
    assert.match(answer.text, /The package of this app is missing/);
  } finally {
    renameSync(`${file}.away`, file);
  }
});

test('the control credential is sealed at rest', async () => {
  await register(platform, 'http://127.0.0.1:9/control');
  const { rows } = await platform.core.context.pool.query<{ line: string }>('SELECT n::text AS line FROM nodes n');
  const dump = rows.map(({ line }) => line).join();
  assert.ok(!dump.includes(controlCredential) && !dump.includes(Buffer.from(controlCredential).toString('hex')));
  assert.ok(!dump.includes(platform.core.localNode.nodeCredential));
});

test('when a node moves, the policy of its frontends follows', async () => {
  const policy = async () => {
    const { origin } = await launch(account, 'worker');
    const host = new URL(origin).host;
    const answer = await account.fetch('/', { headers: { host, origin: undefined, cookie: undefined } });
    return String(answer.headers['content-security-policy']);
  };
  await register(platform, 'http://127.0.0.1:9/control', 'https://before.example');
  assert.match(await policy(), /https:\/\/before\.example wss:\/\/before\.example/);
  const { signals, pool } = platform.core.context;
  await register(platform, 'http://127.0.0.1:9/control', 'https://after.example');
  await signals.settled(pool);
  assert.match(await policy(), /https:\/\/after\.example wss:\/\/after\.example/);
});

test('a restart gives the local node a new credential under its former id', async () => {
  const former = platform.core.localNode;
  assert.equal((await local('/v1/node/assignments')).status, 200);
  const signalled = new Promise((resolve) => platform.core.context.signals.on('node-credential-replaced', resolve));
  const again = await platform.replica();
  assert.equal(again.localNode.nodeId, former.nodeId);
  assert.notEqual(again.localNode.nodeCredential, former.nodeCredential);
  const elsewhere = { port: again.port, origin: again.context.config.origin };
  await signalled;
  for (const replica of [platform, elsewhere])
    assertRefused(await bearer(replica, former.nodeCredential, '/v1/node/assignments'), 401, 'unauthenticated');
});
