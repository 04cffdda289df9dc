// A mistake while one Gateway handles a request: the request ends, and neither that Gateway nor another of the same
// process does. What is wrong here, a key or an address that is none, is found at the first request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  CORE_CREDENTIAL,
  GATEWAY_CREDENTIAL,
  startGatewayUnderTest,
  until,
} from '../test-support/gateway-under-test.ts';
import { SERVICE, scriptedSetting } from '../test-support/scripted-core.ts';

const setting = scriptedSetting();

test('a request that cannot be handled is answered 500, and the Gateway and its neighbours go on', async (t) => {
  setting.handle = (_req, res) => res.end('answered');
  const faulty = await startGatewayUnderTest('https://127.0.0.1:1', { coreKey: 'no key' });
  t.after(() => faulty.close());
  for (const body of [undefined, 'a body that comes later']) {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await ask(faulty.port, {
      path: `${SERVICE}?secret=1`,
      method,
      ...(body === undefined ? {} : { body }),
    });
    assert.deepEqual([answer.status, JSON.parse(answer.body).code], [500, 'internal_error']);
  }
  assert.equal((await ask(faulty.port, { path: '/elsewhere' })).status, 404);
  assert.equal((await ask(setting.tested.port, { path: SERVICE })).body, 'answered');
  await until(() => faulty.gateway.activeRequests() === 0);
  assert.deepEqual(
    faulty.events.map((event) => event.event),
    ['gateway_fault', 'gateway_fault'],
  );
  const events = JSON.stringify(faulty.events);
  for (const secret of [GATEWAY_CREDENTIAL, CORE_CREDENTIAL, 'secret', 'no key'])
    assert.ok(!events.includes(secret), events);
  assert.match(events, /upstream-pools/);
});

test('a request to the workload that cannot be handled is answered 500, and the next ones are', async (t) => {
  const faulty = await startGatewayUnderTest(setting.coreOrigin, { inbound: { origin: 'no address' } });
  t.after(() => faulty.close());
  for (let request = 0; request < 2; request += 1) {
    const answer = await ask(faulty.inboundPort, { path: '/' });
    assert.deepEqual([answer.status, JSON.parse(answer.body).code], [500, 'internal_error']);
  }
  await until(() => faulty.gateway.activeRequests() === 0);
  assert.equal(faulty.events.filter(({ event }) => event === 'gateway_fault').length, 2);
});

test('an activity listener that throws ends nothing', async (t) => {
  const faulty = await startGatewayUnderTest(setting.coreOrigin, {
    onActivity() {
      throw new TypeError('of the Runtime');
    },
  });
  t.after(() => faulty.close());
  setting.handle = (_req, res) => res.end('answered');
  assert.equal((await ask(faulty.port, { path: SERVICE })).body, 'answered');
  await until(() => faulty.gateway.activeRequests() === 0);
  const [event] = faulty.events;
  assert.ok(event?.event === 'gateway_fault');
  assert.equal(event.reason, 'TypeError');
});
