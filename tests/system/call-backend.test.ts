// Core calls a backend itself, through a real Runtime and a real Gateway: the call wakes it, gets its answer as it is,
// ends when it should, and is refused when the app may not run. The workload is hostile.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { type ErrorCode, type InstallationId, type LaunchDescriptor, limits, RefusalError } from '@platform/contract';
import { cordonNode, uncordonNode } from '@platform/core/operator';
import { installationRow } from '../../packages/core/test-support/apps.ts';
import type { BackendAnswer, BackendRequest } from '../../packages/core/test-support/internals.ts';
import { joinTestNode } from '../../packages/core/test-support/joined-node.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, newNodeKey, startConstellation } from '../support/constellation.ts';
import { publishTestApp } from '../support/publish.ts';
import { rawRequest } from '../support/raw-http.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

const MiB = 1024 * 1024;
const BIG = 24 * MiB;

const WORKLOAD = `
  const http = process.getBuiltinModule('node:http');
  const { Readable } = process.getBuiltinModule('node:stream');
  const seen = { redirected: 0, held: 0, left: 0, at: 0, written: 0 };
  let dripping;
  const piece = Buffer.alloc(65536, 'x');
  const leave = () => { seen.left += 1; seen.at = Date.now(); };
  const routes = {
    '/redirect': (req, res) => res.writeHead(302, { location: '/redirected' }).end(),
    '/redirected': (req, res) => { seen.redirected += 1; res.end(); },
    '/hold': (req, res) => { seen.held += 1; res.on('close', leave); },
    '/drip': (req, res) => { seen.held += 1; res.on('close', leave); res.write('first'); dripping = res; },
    '/exit': () => process.exit(3),
    '/break': (req, res) => { dripping.destroy(); res.end(); },
    '/garbage': (req) => req.socket.end('SMTP ready\\r\\n\\r\\n'),
    '/refuse': (req, res) => res.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '7' })
      .end(JSON.stringify({ code: 'runtime_paused', detail: 'a lie' })),
    '/hostile': (req, res) => res.writeHead(200, { 'set-cookie': 'a=1', 'platform-answered-by': 'platform',
      'platform-trigger': 'x', 'x-request-id': 'mine', 'x-own': 'kept', 'content-type': 'text/plain' }).end('hostile'),
    '/big': (req, res) => Readable.from((function* () {
      for (seen.written = 0; seen.written < ${BIG}; seen.written += piece.length) yield piece;
    })()).pipe(res),
    '/seen': (req, res) => res.end(JSON.stringify(seen)),
  };
  http.createServer((req, res) => {
    const route = routes[new URL(req.url, 'http://workload').pathname];
    if (route !== undefined) return route(req, res);
    let bytes = 0, text = '';
    req.on('data', (chunk) => { bytes += chunk.length; if (bytes < 1000) text += chunk; });
    req.on('end', () => res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, bytes, text })));
  }).listen(Number(process.env.PORT));
`;

let world: Constellation;
let node: RealNode;
let account: TestAccount;
let id: InstallationId;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  account = await registerAccount(world, 'caller');
  const workload = { runtime: 'node', entry: 'main.mjs' };
  await publishTestApp(account, 'called', { workload }, { 'workload/main.mjs': WORKLOAD, 'frontend/index.html': '' });
  await publishTestApp(account, 'page-only', {});
  id = await install(account, 'called');
});
after(async () => {
  await node?.stop();
  await world?.close();
});

async function install(owner: TestAccount, appId: string): Promise<InstallationId> {
  await owner.browser.take('/v1/apps', { body: { appId } });
  return (await installationRow(world, owner, appId)).id;
}

function call(path: string, more: Partial<BackendRequest> = {}, to = id): Promise<BackendAnswer> {
  return world.core.context.backends.call(to, { method: 'GET', path, signal: AbortSignal.timeout(30_000), ...more });
}

/** The status of an answer that is read to its end. */
async function statusOf(path: string, to = id): Promise<number> {
  const answer = await call(path, {}, to);
  await answer.read(MiB);
  return answer.status;
}

async function json<Value>(answer: BackendAnswer): Promise<Value> {
  return JSON.parse((await answer.read(MiB)).toString('utf8')) as Value;
}

/** Of a core whose machine runs no workloads. */
function withoutNode() {
  const { publicKey } = newNodeKey();
  return { localNode: { publicKey, name: 'none', inherits: false, leased: false, runtime: false } };
}

interface Seen {
  readonly redirected: number;
  readonly held: number;
  readonly left: number;
  readonly at: number;
  readonly written: number;
}
const seen = async () => json<Seen>(await call('/seen'));

async function refused(work: Promise<unknown>, code: ErrorCode): Promise<RefusalError> {
  const error = await work.then(
    () => assert.fail(`nothing was refused, not even with ${code}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RefusalError, String(error));
  assert.equal(error.refusal.code, code, error.message);
  return error;
}

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly text: string;
}

test('a call wakes a stopped backend, which sees what core chose under its own host, and nothing of anybody', async () => {
  assert.equal((await account.browser.take<{ state: string }>('/v1/apps/called/status')).state, 'stopped');
  const headers = { 'content-type': 'application/json', 'Platform-Trigger': 'schedule', 'Idempotency-Key': 'k-1' };
  const answer = await call('/hooks/a%20b?c=d', { method: 'POST', headers, body: Buffer.from('{"at":1}') });
  assert.equal(answer.status, 200);
  const { origin } = await account.browser.take<LaunchDescriptor>('/v1/apps/called/launch', { body: {} });
  const { method, url, text, headers: got } = await json<Echo>(answer);
  assert.deepEqual({ method, url, text }, { method: 'POST', url: '/hooks/a%20b?c=d', text: '{"at":1}' });
  assert.deepEqual(got, {
    host: new URL(origin).host,
    'x-forwarded-host': new URL(origin).host,
    'x-forwarded-proto': 'http',
    'content-type': 'application/json',
    'platform-trigger': 'schedule',
    'idempotency-key': 'k-1',
    'content-length': '8',
    connection: got.connection,
  });
});

for (const name of ['Authorization', 'cookie', 'Host', 'X-Forwarded-For', 'Connection', 'content-length', 'platform_x'])
  test(`a call cannot set ${name}`, async () => {
    await assert.rejects(call('/', { headers: { [name]: '1' } }), {
      message: `a call to a backend cannot set ${name}`,
    });
  });

test('a path that could be read in two ways is refused before anything is sent', async () => {
  for (const path of ['/a/../b', '/%2e%2e/x', 'x', '/a#b', '/a b']) await refused(call(path), 'invalid_path');
});

test('a body may be a stream, which is carried whole', async () => {
  const body = Readable.from(
    (function* () {
      for (let sent = 0; sent < BIG; sent += MiB) yield Buffer.alloc(MiB, 'y');
    })(),
  );
  assert.equal((await json<Echo>(await call('/in', { method: 'PUT', body }))).bytes, BIG);
});

test('a large answer comes in pieces, and waits for its reader', async () => {
  const { status, body } = await call('/big');
  assert.equal(status, 200);
  // What is in flight fits into the buffers of four sockets.
  const stuck = await until('the backend to be held back', async () => {
    const former = await seen();
    const { written } = await seen();
    return written > 0 && written === former.written ? written : undefined;
  });
  assert.ok(stuck < BIG, `${stuck} bytes were written though nobody read`);
  let bytes = 0;
  for await (const part of body) bytes += part.length;
  assert.equal(bytes, BIG);
});

test('an answer is read within the limit of the caller, and one beyond it is broken off', async () => {
  assert.equal((await (await call('/big')).read(BIG)).length, BIG);
  const answer = await call('/big');
  await refused(answer.read(MiB), 'upstream_failed');
  assert.ok(answer.body.destroyed);
});

/** Milliseconds from the end of the call to that of its connection at the backend, best of three: the machine may be busy. */
async function endedAfter(hold: (signal: AbortSignal) => Promise<unknown>, ended: RegExp): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const former = await seen();
    const abort = new AbortController();
    const held = assert.rejects(hold(abort.signal), ended);
    await until('the backend to have the request', async () => (await seen()).held > former.held);
    const begun = Date.now();
    abort.abort(new Error('no longer wanted'));
    await held;
    const { at } = await until('the backend to see the end', async () => {
      const now = await seen();
      return now.left > former.left ? now : undefined;
    });
    took.push(at - begun);
  }
  return Math.min(...took);
}

test('an aborted call ends at the backend, before its answer and in the middle of it', async (context) => {
  const before = await endedAfter((signal) => call('/hold', { signal }), /no longer wanted/);
  const between = await endedAfter(async (signal) => (await call('/drip', { signal })).read(MiB), /no longer wanted/);
  context.diagnostic(`abort to the end at the backend, ms: ${before} before the head, ${between} in the body`);
  // It takes a few; nothing else would end these calls.
  assert.ok(before < 2_000 && between < 2_000, `${before} and ${between} ms`);
});

test('a call that is aborted before it begins sends nothing', async () => {
  const body = Readable.from(['never read']);
  await assert.rejects(
    call('/hold', { method: 'POST', body, signal: AbortSignal.abort(new Error('too late')) }),
    /too late/,
  );
  assert.ok(body.destroyed);
});

test('a backend that hangs is upstream_timeout when the time of its caller is over, also in the middle of its answer', async () => {
  await refused(call('/hold', { signal: AbortSignal.timeout(300) }), 'upstream_timeout');
  const time = new AbortController();
  const answer = await call('/drip', { signal: time.signal });
  const read = refused(answer.read(MiB), 'upstream_timeout');
  // As AbortSignal.timeout does, but not before the answer has begun.
  time.abort(new DOMException('The time is over.', 'TimeoutError'));
  await read;
});

test('a backend that breaks off or answers no HTTP is upstream_failed, and is called again', async () => {
  await refused(call('/garbage'), 'upstream_failed');
  const half = await call('/drip');
  await (await call('/break')).read(0);
  await refused(half.read(MiB), 'upstream_failed');
  await refused(call('/exit'), 'upstream_failed');
  // Until the Runtime has noticed the crash, calls fail; from then on they wait for the restart.
  await until('its restart', () => statusOf('/').catch(() => undefined));
});

test('a backend that answers nobody holds a limited number of calls, and others are not kept waiting', async () => {
  const abort = new AbortController();
  const { held: former } = await seen();
  const held = Array.from({ length: limits.backendCalls.value - 1 }, () => call('/hold', { signal: abort.signal }));
  const ended = Promise.allSettled(held);
  await until('the backend to hold all but one', async () => (await seen()).held === former + held.length);
  const last = await call('/drip');
  await refused(call('/'), 'concurrency_limited');
  const other = await install(await registerAccount(world, 'unhindered'), 'called');
  assert.equal(await statusOf('/', other), 200);
  last.body.destroy();
  assert.equal(await until('a place', () => statusOf('/').catch(() => undefined)), 200);
  abort.abort(new Error('no longer wanted'));
  assert.ok((await ended).every(({ status }) => status === 'rejected'));
});

test('a core that stops breaks its calls off', async () => {
  const owner = await registerAccount(world, 'stopping');
  const joined = await joinTestNode(world, 'near');
  const near = await startRealNode(world, { credential: joined.credential(), key: joined.key });
  await cordonNode(world.core.context, 'local');
  try {
    const own = await install(owner, 'called');
    const replica = await world.replica(withoutNode());
    const signal = AbortSignal.timeout(30_000);
    const drip = await replica.context.backends.call(own, { method: 'GET', path: '/drip', signal });
    const broken = refused(drip.read(MiB), 'upstream_failed');
    await replica.stop();
    await broken;
  } finally {
    await uncordonNode(world.core.context, 'local');
    await near.stop();
    await cordonNode(world.core.context, 'near');
  }
});

test('a redirect is an answer and is not followed', async () => {
  const { status, headers, body } = await call('/redirect');
  body.destroy();
  assert.deepEqual([status, headers.location], [302, '/redirected']);
  assert.equal((await seen()).redirected, 0);
});

test('an answer has no cookies and none of the names of the platform, and cannot pass for a refusal', async () => {
  const hostile = await call('/hostile');
  assert.equal(String(await hostile.read(100)), 'hostile');
  assert.deepEqual(Object.keys(hostile.headers).sort(), ['content-type', 'date', 'x-own']);
  const lie = await call('/refuse');
  assert.deepEqual([lie.status, (await json<{ code: string }>(lie)).code], [503, 'runtime_paused']);
});

test('a stranger at the endpoint cannot speak for the platform, nor learn who answered', async () => {
  const { backend, origin } = await account.browser.take<LaunchDescriptor>('/v1/apps/called/launch', { body: {} });
  assert.ok(backend !== null);
  const ticket: { url: string } = JSON.parse(Buffer.from(backend.endpointTicket.slice(5), 'base64url').toString());
  const { host, pathname } = new URL(ticket.url);
  const answer = await rawRequest({
    port: node.runtime.listenerPort,
    path: `${pathname}/`,
    headers: {
      ...{ host, origin, authorization: `Bearer ${backend.capability}`, 'platform-trigger': 'schedule' },
      ...{ 'Platform-Public': '1', platform_trigger: 'schedule', 'x-own': 'kept' },
    },
  });
  const names = Object.keys((JSON.parse(answer.text) as Echo).headers);
  assert.ok(names.includes('x-own'));
  assert.deepEqual(
    names.filter((name) => name.startsWith('platform')),
    [],
  );
  assert.equal(answer.headers['platform-answered-by'], undefined);
});

test('what is not installed, has no backend or was stopped is refused at the moment of the call', async () => {
  const owner = await registerAccount(world, 'tenant');
  const own = await install(owner, 'called');
  assert.equal(await statusOf('/', own), 200);
  await owner.browser.take('/v1/apps/called/stop', { method: 'POST' });
  const stopped = await refused(call('/', {}, own), 'workload_unavailable');
  assert.match(stopped.message, /was stopped\. Its owner can start it in Settings/);
  await owner.browser.take('/v1/apps/called/start', { method: 'POST' });
  assert.equal(await statusOf('/', own), 200);
  await owner.browser.take('/v1/runtime/pause', { body: {} });
  await refused(call('/', {}, own), 'runtime_paused');
  await owner.browser.take('/v1/runtime/resume', { body: {} });
  await owner.browser.take('/v1/apps/called', { method: 'DELETE' });
  await refused(call('/', {}, own), 'not_found');
  await refused(call('/', {}, await install(owner, 'page-only')), 'not_found');
});

test('a backend that came with an update is not called before its owner reviewed it, and runs from then on', async () => {
  await publishTestApp(account, 'grown', { version: '1.0.0' });
  const workload = { runtime: 'node', entry: 'main.mjs' };
  const files = { 'workload/main.mjs': WORKLOAD, 'frontend/index.html': '' };
  await publishTestApp(account, 'grown', { version: '2.0.0', workload }, files);
  const owner = await registerAccount(world, 'careful');
  await owner.browser.take('/v1/apps', { body: { appId: 'grown', version: '1.0.0' } });
  const own = (await installationRow(world, owner, 'grown')).id;
  await refused(call('/', {}, own), 'not_found');
  await owner.browser.take('/v1/apps/grown/upgrade', { body: { version: '2.0.0' } });
  const { message } = await refused(call('/', {}, own), 'workload_unavailable');
  assert.match(message, /allows it in Settings → Apps/);
  await owner.browser.take('/v1/apps/grown/upgrade', { body: { version: '2.0.0', acceptResources: true } });
  assert.equal(await statusOf('/', own), 200);
});

test('a body that was to be sent is let go when the call is refused', async () => {
  const body = Readable.from(['never read']);
  await refused(call('/', { method: 'POST', body }, await install(account, 'page-only')), 'not_found');
  assert.ok(body.destroyed);
});

test('an app that waits for a node is placed by the call, or the call says that no node has room', async () => {
  const owner = await registerAccount(world, 'waiting');
  const own = await install(owner, 'called');
  const { context } = world.core;
  await cordonNode(context, 'local');
  await context.pool.query('UPDATE installations SET node_id = NULL, waiting = true WHERE id = $1', [own]);
  const { refusal } = await refused(call('/', {}, own), 'workload_unavailable');
  assert.deepEqual([refusal.detail, refusal.retryAfter], ['No machine has room for the backend of this app yet.', 30]);
  await uncordonNode(context, 'local');
  assert.equal(await statusOf('/', own), 200);
});

test('every core reaches the node of another machine, and no core a loopback address that is not its own', async () => {
  const second = await world.replica(withoutNode());
  const signal = AbortSignal.timeout(30_000);
  await refused(second.context.backends.call(id, { method: 'GET', path: '/', signal }), 'workload_unavailable');

  const joined = await joinTestNode(world, 'far');
  const far = await startRealNode(world, { credential: joined.credential(), key: joined.key });
  await cordonNode(world.core.context, 'local');
  try {
    const owner = await registerAccount(world, 'far-owner');
    const own = await install(owner, 'called');
    assert.equal((await installationRow(world, owner, 'called')).node_id, joined.id);
    for (const { backends } of [second.context, world.core.context]) {
      const answer = await backends.call(own, { method: 'GET', path: '/big', signal });
      assert.equal((await answer.read(BIG)).length, BIG);
    }
    await far.stop();
    await refused(call('/', {}, own), 'workload_unavailable');
  } finally {
    await uncordonNode(world.core.context, 'local');
    await far.stop();
  }
});
