// The backend of an installed app, as its owner starts, stops and watches it.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { limits, type WorkloadUse, workloadDetail } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import {
  controlCredential,
  type NodeDouble,
  register,
  startNodeDouble,
  statusOf,
} from '../../test-support/node-double.ts';
import { stopApp } from './lifecycle.ts';

let platform: Constellation;
let node: NodeDouble;
let account: TestAccount;
let id: string;
let usual: NodeDouble['answer'];

before(async () => {
  platform = await startConstellation();
  node = await startNodeDouble(platform);
  usual = node.answer;
  account = await registerAccount(platform, 'runner');
  await publish(account, 'working', { workload: nodeWorkload });
  await install(account, 'working');
  id = (await installationRow(platform, account, 'working')).id;
});

beforeEach(() => {
  node.answer = usual;
});

after(async () => {
  await platform.close();
  await node.close();
});

function post(action: string): Promise<RawAnswer> {
  return account.fetch(`/v1/apps/working/${action}`, { body: {} });
}

function assertUnavailable(answer: RawAnswer): string {
  assert.deepEqual([answer.status, problemCode(answer)], [503, 'workload_unavailable'], answer.text);
  return (answer.json as { detail: string }).detail;
}

test('start, stop and status reach the node of the installation with its control credential', async () => {
  const calls: [() => Promise<RawAnswer>, string, string][] = [
    [() => post('start'), 'POST', 'start'],
    [() => post('stop'), 'POST', 'stop'],
    [() => account.fetch('/v1/apps/working/status'), 'GET', 'status'],
  ];
  for (const [call, method, action] of calls) {
    const answer = await call();
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(workloadDetail.parse(answer.json), {
      state: 'running',
      since: '2026-11-21T10:00:00.000Z',
      restarts: 0,
      lastExit: null,
      unenforced: [],
      usage: null,
    });
    assert.deepEqual(node.calls.at(-1), {
      method,
      path: `/control/installations/${id}/${action}`,
      authorization: `Bearer ${controlCredential}`,
    });
  }
});

test('the owner sees what it uses, how it last ended, and what its machine does not hold it to', async () => {
  const usage: WorkloadUse = {
    cpu: { milliseconds: 1_250, share: 0.25, limit: 1 },
    memory: { bytes: 50_000_000, peakBytes: null, limitBytes: 268_435_456 },
    network: {
      outbound: { requests: 3, sentBytes: 900, receivedBytes: 1_800 },
      inbound: { requests: 0, sentBytes: 0, receivedBytes: 0 },
      public: null,
    },
    logLinesDropped: 7,
  };
  const lastExit = { at: '2026-11-21T09:59:00.000Z', reason: 'It ended with code 1.' };
  const unenforced = ['Its memory is not limited on this machine: no control group is writable.'];
  node.answer = (call) => ({ body: statusOf(call, { usage, lastExit, unenforced }) });
  const { json } = await account.fetch('/v1/apps/working/status');
  assert.deepEqual(workloadDetail.parse(json), {
    state: 'running',
    since: '2026-11-21T10:00:00.000Z',
    restarts: 0,
    lastExit,
    unenforced,
    usage,
  });
});

test('stopping stores the desired state before core notifies the node, and starting resets it', async () => {
  const { pool } = platform.core.context;
  const stopped = async () => {
    const { rows } = await pool.query<{ stopped: boolean }>('SELECT stopped FROM installations WHERE id = $1', [id]);
    return rows[0]?.stopped;
  };
  node.answer = () => ({ status: 500, body: '' });
  assertUnavailable(await post('stop'));
  assert.equal(await stopped(), true);
  node.answer = usual;
  await post('start');
  assert.equal(await stopped(), false);
});

test('a workload that does not run explains itself by how it last ended', async () => {
  const lastExit = { at: '2026-11-21T10:00:00.000Z', reason: 'it ended with exit code 1' };
  node.answer = (call) => ({ body: statusOf(call, { state: 'failed', restarts: 3, lastExit }) });
  const failed = (await account.fetch('/v1/apps/working/status')).json as { state: string; reason?: string };
  assert.deepEqual([failed.state, failed.reason], ['failed', lastExit.reason]);
  node.answer = (call) => ({ body: statusOf(call, { lastExit }) });
  assert.equal(((await account.fetch('/v1/apps/working/status')).json as { reason?: string }).reason, undefined);
});

test('a workload at rest is explained by who stopped it, not by the signal that ended it', async () => {
  const lastExit = { at: '2026-11-21T10:00:00.000Z', reason: 'Killed by SIGTERM.' };
  node.answer = (call) => ({ body: statusOf(call, { state: 'stopped', lastExit }) });
  const reason = async () => ((await account.fetch('/v1/apps/working/status')).json as { reason?: string }).reason;
  assert.equal(await reason(), undefined, 'it is asleep, and wakes on demand');
  await post('stop');
  assert.equal(await reason(), 'Stopped until it is started again.');
  await post('start');
  assert.equal(await reason(), undefined);
});

test('a stopped backend names who stopped it', async () => {
  const { context } = platform.core;
  node.answer = (call) => ({ body: statusOf(call, { state: 'stopped' }) });
  const by = async () => workloadDetail.parse((await account.fetch('/v1/apps/working/status')).json).stoppedBy;
  const stop = (body: object) => account.fetch('/v1/apps/working/stop', { body });
  assert.deepEqual(await by(), { kind: 'idle' });
  node.answer = (call) => ({ body: statusOf(call, { state: 'stopped', reason: 'The disk of its node is full.' }) });
  assert.deepEqual(await by(), { kind: 'platform' });
  await stop({});
  assert.deepEqual(await by(), { kind: 'owner' });
  await stop({ byApp: 'minder' });
  assert.deepEqual(await by(), { kind: 'owner' }, 'it was stopped already');
  await post('start');
  await stop({ byApp: 'minder' });
  assert.deepEqual(await by(), { kind: 'app', appId: 'minder' });
  await post('start');
  const backend = { accountKey: (await installationRow(platform, account, 'working')).account_key, appId: 'working' };
  await stopApp(context, backend, 'operator');
  assert.deepEqual(await by(), { kind: 'operator' });
  await account.fetch('/v1/runtime/pause', { body: {} });
  assert.deepEqual(await by(), { kind: 'pause' });
  await account.fetch('/v1/runtime/resume', { body: {} });
  // Of an account from before this was kept.
  await context.pool.query('UPDATE installations SET stopped_by = NULL WHERE id = $1', [id]);
  assert.deepEqual(await by(), { kind: 'owner' });
  node.answer = usual;
  await post('start');
  assert.equal(await by(), undefined, 'it runs');
});

test('logs come newest first, in pages whose cursor is bound to the installation', async () => {
  const line = (text: string) => ({ at: '2026-11-21T10:00:00.000Z', stream: 'stdout', line: text });
  node.answer = ({ path }) =>
    path.includes('before=7')
      ? { body: { items: [line('old')], before: null } }
      : { body: { items: [line('new')], before: '7' } };
  const first = (await account.fetch('/v1/apps/working/logs?limit=1')).json as { items: unknown; nextCursor: string };
  assert.deepEqual(first.items, [line('new')]);
  assert.match(node.calls.at(-1)?.path ?? '', /\/logs\?limit=1$/);
  const second = await account.fetch(`/v1/apps/working/logs?limit=1&cursor=${first.nextCursor}`);
  assert.deepEqual(second.json, { items: [line('old')], nextCursor: null });
  await publish(account, 'other-worker', { workload: nodeWorkload });
  await install(account, 'other-worker');
  const foreign = await account.fetch(`/v1/apps/other-worker/logs?cursor=${first.nextCursor}`);
  assert.deepEqual([foreign.status, problemCode(foreign)], [400, 'invalid_cursor']);
  const tooMany = await account.fetch(`/v1/apps/working/logs?limit=${limits.workloadLogLines.value + 1}`);
  assert.deepEqual([tooMany.status, problemCode(tooMany)], [400, 'invalid_request']);
});

test('an app without a backend has nothing to start, stop or watch', async () => {
  const before = node.calls.length;
  for (const [path, settings] of [
    ['start', { body: {} }],
    ['stop', { body: {} }],
    ['status', {}],
    ['logs', {}],
  ] as const) {
    const answer = await account.fetch(`/v1/apps/wallet/${path}`, settings);
    assert.deepEqual([answer.status, problemCode(answer)], [404, 'not_found']);
  }
  assert.equal(node.calls.length, before);
});

test('the reason why a node cannot start a workload reaches the owner', async () => {
  node.answer = () => ({ status: 503, body: { code: 'workload_unavailable', detail: 'Exited with code 1.' } });
  assert.equal(assertUnavailable(await post('start')), 'Exited with code 1.');
});

test('whatever else a node answers is one and the same refusal, and nothing of it gets out', async () => {
  const secret = 'secret of the node';
  const status = (more: object) => ({
    body: { ...statusOf({ method: '', path: `/${id}`, authorization: '' }), ...more },
  });
  const answers: [string, ReturnType<NodeDouble['answer']>][] = [
    ['an error', { status: 500, body: { code: 'internal_error', detail: secret } }],
    ['no JSON', { body: secret }],
    ['another shape', { body: { secret } }],
    ['an unknown member', status({ secret })],
    ['another installation', status({ installationId: 'inst-0199c000-0000-7000-8000-000000000000' })],
    ['an unknown state', status({ state: 'confused' })],
    ['a redirect', { status: 302, headers: { location: `${node.controlUrl}/stolen` }, body: '' }],
    ['invalid UTF-8', { body: 'x', headers: { 'content-length': '3' } }],
    ['too much', { body: `"${'x'.repeat(33 * 1024 * 1024)}"` }],
  ];
  for (const [what, answer] of answers) {
    node.answer = () => answer;
    const refused = await account.fetch('/v1/apps/working/status');
    const detail = assertUnavailable(refused);
    assert.equal(detail, 'The machine that runs the backend of this app does not answer.', what);
    assert.ok(!refused.text.includes(secret), what);
  }
  assert.ok(!node.calls.some(({ path }) => path.includes('stolen')));
});

test('an app that is removed while its node is asked is not found, and its node not blamed', async () => {
  await publish(account, 'leaving', { workload: nodeWorkload });
  for (const ask of [
    () => account.fetch('/v1/apps/leaving/status'),
    () => account.fetch('/v1/apps/leaving/start', { body: {} }),
  ]) {
    await install(account, 'leaving');
    node.answer = (call) => {
      if (call.method === 'DELETE') return { status: 204, body: '' };
      const body = (response: ServerResponse) => {
        void account.fetch('/v1/apps/leaving', { method: 'DELETE' }).then(() => response.end('{}'));
      };
      return { status: 404, body };
    };
    const answer = await ask();
    assert.deepEqual([answer.status, problemCode(answer)], [404, 'not_found'], answer.text);
  }
});

test('a node that is not there is a refusal and no wait', async () => {
  await register(platform, 'http://127.0.0.1:9/control');
  assertUnavailable(await account.fetch('/v1/apps/working/status'));
  assertUnavailable(await post('start'));
  await register(platform, node.controlUrl);
  assert.equal((await account.fetch('/v1/apps/working/status')).status, 200);
});
