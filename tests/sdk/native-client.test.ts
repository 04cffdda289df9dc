// Native clients of real backends, through a real node: what the SDK and other clients do with a launch, and what ends it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, beforeEach, test } from 'node:test';
import type { LaunchDescriptor } from '@platform/contract';
import { type BackendConnection, connectBackend } from '@platform/sdk';
import { buildSdk } from '@platform/sdk/build';
import { WebSocket as WsClient } from 'ws';
import { registerAccount, signIn, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { freePort } from '../support/free-port.ts';
import { NATIVE_ENGINE } from '../support/native-engine.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

let world: Constellation;
let node: RealNode;
let account: TestAccount;

before(async () => {
  const port = await freePort();
  world = await startConstellation({ config: { nodeOrigin: `http://127.0.0.1:${port}` } });
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential, listenPort: port });
  account = await registerAccount(world, 'maker');
  const sdk = await readFile((await buildSdk()).workload, 'utf8');
  const files = { 'workload/main.mjs': NATIVE_ENGINE, 'workload/sdk.js': sdk };
  const manifest = { frontend: undefined, workload: { runtime: 'node', entry: 'main.mjs' } };
  for (const appId of ['engine', 'other']) await publishTestApp(account, appId, manifest, files);
  await account.browser.take('/v1/apps', { body: { appId: 'other' } });
});
after(async () => {
  await node?.stop();
  await world?.close();
});
beforeEach(async () => {
  await account.fetch('/v1/apps/engine', { method: 'DELETE' });
  await account.browser.take('/v1/apps', { body: { appId: 'engine' } });
});

async function launch(who: TestAccount = account, appId = 'engine'): Promise<BackendConnection> {
  const descriptor = await who.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, { body: {} });
  assert.equal(descriptor.url, null);
  return descriptor.backend ?? assert.fail();
}

const urlOf = ({ endpointTicket }: BackendConnection): string =>
  JSON.parse(Buffer.from(endpointTicket.slice('pet1.'.length), 'base64url').toString()).url;

/** The answer of the platform to this capability at the endpoint of a launch. */
async function statusOf(connection: BackendConnection, capability = connection.capability): Promise<number> {
  const answer = await fetch(`${urlOf(connection)}/own`, { headers: { authorization: `Bearer ${capability}` } });
  await answer.body?.cancel();
  return answer.status;
}

/** Frames of a WebSocket as they come. */
function listen(socket: WebSocket): { readonly frames: string[]; readonly closed: Promise<unknown> } {
  const frames: string[] = [];
  socket.addEventListener('message', ({ data }) => frames.push(String(data)));
  return { frames, closed: once(socket, 'close') };
}

/** What a session has under way: a WebSocket and a long answer. */
async function occupy(connection: BackendConnection) {
  const backend = connectBackend(connection);
  const socket = await backend.webSocket('/chat');
  const ends = { socket: false, stream: false };
  socket.addEventListener('close', () => {
    ends.socket = true;
  });
  const answer = await backend.fetch('/long');
  const reader = answer.body?.getReader() ?? assert.fail();
  await reader.read();
  const stream = reader.read().then(
    ({ done }) => assert.ok(!done, 'half an answer looks whole'),
    () => {
      ends.stream = true;
    },
  );
  return { ends, socket, stream };
}

test('a client in Node calls the backend of an app without a frontend, by HTTP and WebSocket', async () => {
  const backend = connectBackend(await launch());
  assert.equal(backend.available, true);
  assert.deepEqual(await backend.json('/echo', { body: { a: 1 } }), { body: { a: 1 } });
  assert.equal((await backend.fetch('/echo', { method: 'POST', body: '7' })).status, 200);
  const socket = await backend.webSocket('/chat');
  const { frames, closed } = listen(socket);
  socket.send('hello');
  await until('the echo', () => frames.includes('hello'));
  // Neither the capability nor the platform's subprotocols reach the backend.
  assert.deepEqual(
    frames.filter((frame) => frame !== 'hello'),
    ['offered:'],
  );
  socket.close();
  await closed;
});

test('the line that a person hands over is a connection too, and a damaged one is not', async () => {
  const { endpointTicket, capability } = await launch();
  const line = `${endpointTicket}#${capability}`;
  assert.deepEqual(await connectBackend(` ${line}\n`).json('/echo', { body: 1 }), { body: 1 });
  for (const wrong of [
    '',
    line.slice(0, line.indexOf('#')),
    `#${capability}`,
    `${line.slice(0, 9)}#${capability}`,
    `${line} x`,
  ])
    assert.throws(() => connectBackend(wrong), { name: 'PlatformError' }, wrong);
});

test('the backend chooses among the subprotocols of the client', async () => {
  const socket = await connectBackend(await launch()).webSocket('/chat', { protocols: ['chat.v1', 'chat.v2'] });
  const { frames } = listen(socket);
  socket.send('x');
  await until('the first frame', () => frames.length > 0);
  assert.equal(socket.protocol, 'chat.v2');
  socket.close();
});

test('a WebSocket that the backend declines does not open', async () => {
  await assert.rejects(connectBackend(await launch()).webSocket('/elsewhere'), { code: 'network_failed' });
});

test('a stock client of WebSockets presents the capability as Bearer', async () => {
  const connection = await launch();
  const open = (capability: string) =>
    new WsClient(`${urlOf(connection).replace('http', 'ws')}/chat`, {
      headers: { authorization: `Bearer ${capability}` },
    });
  const socket = open(connection.capability);
  const first = once(socket, 'message');
  await once(socket, 'open');
  assert.equal(String((await first)[0]), 'offered:');
  socket.send('by ws');
  assert.equal(String((await once(socket, 'message'))[0]), 'by ws');
  socket.close();
  const [error] = await once(open(`pdc_${'A'.repeat(43)}`), 'error');
  assert.match(String(error), /401/);
});

test('capabilities of others, of another app, guessed ones and none are refused alike', async () => {
  const connection = await launch();
  const other = await launch(account, 'other');
  const answers = await Promise.all(
    [other.capability, `pdc_${'A'.repeat(43)}`, `pfc_${'A'.repeat(43)}`, undefined].map(async (capability) => {
      const headers = capability === undefined ? {} : { authorization: `Bearer ${capability}` };
      const answer = await fetch(`${urlOf(connection)}/own`, { headers });
      const { requestId: _requestId, ...problem } = (await answer.json()) as { requestId: string };
      return JSON.stringify([answer.status, answer.headers.get('www-authenticate'), problem]);
    }),
  );
  assert.equal(new Set(answers).size, 1, answers.join('\n'));
  assert.match(answers[0] ?? '', /^\[401,"Bearer",.*"unauthenticated"/);
  assert.equal(await statusOf(connection), 200);
});

test('signing out has ended what its clients have under way when it is answered, and nothing of other sessions', async () => {
  const elsewhere = await signIn(world, account.authenticator);
  const [here, there] = [await launch(), await launch(elsewhere)];
  const [stays, goes] = [await occupy(here), await occupy(there)];
  assert.equal((await elsewhere.fetch('/v1/auth/logout', { body: {} })).status, 204);
  await goes.stream;
  await until('the WebSocket to close', () => goes.ends.socket);
  assert.deepEqual(goes.ends, { socket: true, stream: true });
  assert.deepEqual([await statusOf(there), await statusOf(here)], [401, 200]);
  assert.deepEqual(stays.ends, { socket: false, stream: false });
  stays.socket.close();
});

test('disconnecting all clients ends a stolen capability and what was begun with it; the rightful one goes on with another', async () => {
  const connection = await launch();
  const stolen = await occupy(connection);
  let renewals = 0;
  const rightful = connectBackend(connection, {
    async renew() {
      renewals += 1;
      return launch();
    },
  });
  assert.equal((await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' })).status, 204);
  await stolen.stream;
  await until('the WebSocket to close', () => stolen.ends.socket);
  assert.equal(await statusOf(connection), 401);
  const answers = await Promise.all([1, 2, 3].map((body) => rightful.json('/echo', { body })));
  assert.deepEqual(answers, [{ body: 1 }, { body: 2 }, { body: 3 }]);
  const socket = await rightful.webSocket('/chat');
  socket.close();
  assert.equal(renewals, 1);
});

test('a refusal of the backend itself is not one of the platform: nothing is renewed or repeated', async () => {
  let renewals = 0;
  const backend = connectBackend(await launch(), {
    async renew() {
      renewals += 1;
      return null;
    },
  });
  const answer = await backend.fetch('/refuse');
  assert.deepEqual([answer.status, answer.headers.get('www-authenticate'), renewals], [401, null, 0]);
});

test('nothing of a removed app is reached, nor of the next installation with what the former one gave', async () => {
  const connection = await launch();
  const under = await occupy(connection);
  await account.fetch('/v1/apps/engine', { method: 'DELETE' });
  await under.stream;
  await until('the WebSocket to close', () => under.ends.socket);
  assert.equal(await statusOf(connection), 404);
  await account.browser.take('/v1/apps', { body: { appId: 'engine' } });
  const next = await launch();
  assert.notEqual(next.endpointTicket, connection.endpointTicket);
  assert.equal(await statusOf(connection), 404);
  assert.equal(await statusOf(next, connection.capability), 401);
  assert.equal(await statusOf(next), 200);
});

test('while the account is paused nobody is let in, and afterwards the same capability is', async () => {
  const connection = await launch();
  const under = await occupy(connection);
  await account.browser.take('/v1/runtime/pause', { body: {} });
  await under.stream;
  await until('the WebSocket to close', () => under.ends.socket);
  assert.equal(await statusOf(connection), 503);
  await account.browser.take('/v1/runtime/resume', { body: {} });
  await until('the end of the pause', async () => (await statusOf(connection)) === 200);
});

test('PLATFORM_APP_CAPABILITY opens the backend with the ticket of a launch; it renews without a restart', async () => {
  const connection = await launch();
  const backend = connectBackend(connection);
  const { capability: own } = await backend.json<{ capability: string }>('/own');
  assert.notEqual(own, connection.capability);
  assert.equal(await statusOf(connection, own), 200);
  await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' });
  assert.equal(await statusOf(connection, own), 401);
  const again = connectBackend(await launch());
  const { capability: renewed } = await again.json<{ capability: string }>('/renew', { body: null });
  assert.equal(await statusOf(connection, renewed), 200);
  assert.equal((await again.json<{ capability: string }>('/own')).capability, own);
});

test('a backend verifies capabilities that its clients present in a protocol of its own', async () => {
  const connection = await launch();
  const backend = connectBackend(connection);
  const verify = (capability: unknown) => backend.json<{ valid: boolean }>('/verify', { body: { capability } });
  assert.deepEqual(await verify(connection.capability), { valid: true });
  const wrong = [(await launch(account, 'other')).capability, `pdc_${'A'.repeat(43)}`, '', 'x'.repeat(10_000)];
  for (const capability of wrong) assert.deepEqual(await verify(capability), { valid: false });
});
