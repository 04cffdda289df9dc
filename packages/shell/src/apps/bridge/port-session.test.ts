// One port under ordinary and hostile use, over a real message channel.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { BridgeResponse } from '@platform/contract';
import { PORT_LIMITS, type Port, type PortSession, servePort } from './port-session.ts';
import { BridgeRefusal } from './refusal.ts';

interface Bench {
  readonly app: MessagePort;
  readonly session: PortSession;
  readonly received: unknown[];
  readonly calls: string[];
  readonly bugs: unknown[];
  readonly state: { floods: number; now: number };
  /** Resolves once the app has received so many messages in all. */
  until(count: number): Promise<void>;
}

type Answer = (method: string, params: unknown) => Promise<unknown>;

function bench(context: TestContext, answer: Answer = async (method) => method): Bench {
  const { port1, port2 } = new MessageChannel();
  const received: unknown[] = [];
  const calls: string[] = [];
  const bugs: unknown[] = [];
  const state = { floods: 0, now: 0 };
  const session = servePort({
    // Node's port has everything the session uses; only its event types are named otherwise.
    port: port1 as unknown as Port,
    answer: (method, params) => {
      calls.push(method);
      return answer(method, params);
    },
    now: () => state.now,
    onFlood: () => {
      state.floods += 1;
    },
    onBug: (error) => bugs.push(error),
  });
  port2.on('message', (message) => received.push(message));
  context.after(() => {
    session.close();
    port2.close();
  });
  async function until(count: number): Promise<void> {
    while (received.length < count) await once(port2, 'message');
  }
  return { app: port2, session, received, calls, bugs, state, until };
}

function codes(received: readonly unknown[]): string[] {
  return (received as readonly BridgeResponse[]).map((answer) => ('error' in answer ? answer.error.code : 'result'));
}

test('each request is answered once, under its own id', async (context) => {
  const { app, received, until } = bench(context, async (method, params) => ({ method, params }));
  app.postMessage({ id: 1, method: 'context.get' });
  app.postMessage({ id: 2, method: 'apps.open', params: { appId: 'notes' } });
  await until(2);
  assert.deepEqual(received, [
    { id: 1, result: { method: 'context.get', params: undefined } },
    { id: 2, result: { method: 'apps.open', params: { appId: 'notes' } } },
  ]);
});

test('a refusal carries its code; a bug only says that it is one', async (context) => {
  const bug = new TypeError('secret detail of the shell');
  const bed = bench(context, async (method) => {
    throw method === 'a' ? new BridgeRefusal('grant_missing', 'This app has no grant.') : bug;
  });
  bed.app.postMessage({ id: 1, method: 'a' });
  bed.app.postMessage({ id: 2, method: 'b' });
  await bed.until(2);
  assert.deepEqual(codes(bed.received), ['grant_missing', 'internal_error']);
  assert.doesNotMatch(JSON.stringify(bed.received), /secret detail/);
  assert.deepEqual(bed.bugs, [bug]);
});

for (const [name, message, code] of [
  ['a method that is no text', { id: 1, method: 7 }, 'invalid_request'],
  ['an endless method name', { id: 1, method: 'x'.repeat(65) }, 'invalid_request'],
  ['a further member', { id: 1, method: 'context.get', appId: 'settings' }, 'invalid_request'],
  ['a map as parameters', { id: 1, method: 'context.get', params: new Map() }, 'invalid_request'],
  ['a megabyte of text', { id: 1, method: 'search.query', params: { q: 'x'.repeat(1 << 20) } }, 'payload_too_large'],
] as const) {
  test(`${name} is refused with ${code} before any method runs`, async (context) => {
    const { app, received, calls, until } = bench(context);
    app.postMessage(message);
    await until(1);
    assert.deepEqual(codes(received), [code]);
    assert.deepEqual(calls, []);
  });
}

test('messages without a usable id are passed over, and the next request still works', async (context) => {
  const { app, received, until } = bench(context);
  for (const junk of [
    null,
    'hello',
    42,
    [],
    { method: 'x' },
    { id: '1', method: 'x' },
    { id: -1, method: 'x' },
    { id: 1.5, method: 'x' },
    new Map(),
  ]) {
    app.postMessage(junk);
  }
  app.postMessage({ id: 9, method: 'context.get' });
  await until(1);
  assert.deepEqual(received, [{ id: 9, result: 'context.get' }]);
});

test('an id that is still being answered is not answered twice', async (context) => {
  const gate = Promise.withResolvers<string>();
  const { app, received, calls, until } = bench(context, () => gate.promise);
  app.postMessage({ id: 1, method: 'first' });
  app.postMessage({ id: 1, method: 'second' });
  await until(1);
  assert.deepEqual(codes(received), ['invalid_request']);
  gate.resolve('done');
  await until(2);
  assert.deepEqual(received[1], { id: 1, result: 'done' });
  assert.deepEqual(calls, ['first']);
});

test('only so many calls run at once, the next wait in order, and the rest are refused', async (context) => {
  const gates: PromiseWithResolvers<void>[] = [];
  const { app, received, calls, until } = bench(context, async () => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
  });
  const beyond = 5;
  const total = PORT_LIMITS.running + PORT_LIMITS.waiting + beyond;
  for (let id = 0; id < total; id += 1) app.postMessage({ id, method: `call ${id}` });
  await until(beyond);
  assert.deepEqual(new Set(codes(received)), new Set(['concurrency_limited']));
  assert.equal(calls.length, PORT_LIMITS.running);
  for (let released = 0; released < total - beyond; released += 1) {
    while (gates.length === 0) await new Promise((resolve) => setImmediate(resolve));
    gates.shift()?.resolve();
  }
  await until(total);
  assert.deepEqual(
    calls,
    Array.from({ length: total - beyond }, (_, id) => `call ${id}`),
  );
});

test('calls beyond the rate are refused until the window has passed', async (context) => {
  const bed = bench(context);
  for (let id = 0; id < PORT_LIMITS.burst; id += 1) {
    bed.app.postMessage({ id, method: 'm' });
    if (id % PORT_LIMITS.running === 0) await bed.until(id + 1);
  }
  await bed.until(PORT_LIMITS.burst);
  bed.app.postMessage({ id: 1_000, method: 'm' });
  await bed.until(PORT_LIMITS.burst + 1);
  assert.equal(codes(bed.received).at(-1), 'rate_limited');
  bed.state.now = PORT_LIMITS.windowMs;
  bed.app.postMessage({ id: 1_001, method: 'm' });
  await bed.until(PORT_LIMITS.burst + 2);
  assert.equal(codes(bed.received).at(-1), 'result');
});

test('an app that does not stop flooding loses its port, and is reported once', async (context) => {
  const bed = bench(context);
  const closed = once(bed.app, 'close');
  for (let id = 0; id < PORT_LIMITS.burst + PORT_LIMITS.patience + 500; id += 1)
    bed.app.postMessage({ id, method: 'm' });
  await closed;
  assert.equal(bed.state.floods, 1);
});

test('a flood of junk without ids ends the same way', async (context) => {
  const bed = bench(context);
  const closed = once(bed.app, 'close');
  for (let sent = 0; sent < PORT_LIMITS.patience; sent += 1) bed.app.postMessage(sent);
  await closed;
  assert.equal(bed.state.floods, 1);
  assert.deepEqual(bed.calls, []);
});

test('a closed session sends nothing more, not even the answer that was under way', async (context) => {
  const gate = Promise.withResolvers<string>();
  const { app, session, received, calls } = bench(context, () => gate.promise);
  app.postMessage({ id: 1, method: 'slow' });
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = once(app, 'close');
  session.close();
  gate.resolve('too late');
  session.send({ event: 'apps', data: {} });
  await closed;
  assert.deepEqual(received, []);
});

test('events reach the app as they are', async (context) => {
  const { session, received, until } = bench(context);
  session.send({ event: 'target', data: { target: '?note=1' } });
  await until(1);
  assert.deepEqual(received, [{ event: 'target', data: { target: '?note=1' } }]);
});
