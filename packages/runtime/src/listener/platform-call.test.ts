// Calls of core to a backend through the control side: who may make them, and that they keep the backend awake.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { request, startTestNode, type TestNode } from '../../test-support/node.ts';

const IDLE_SECONDS = 30;
const IDLE = IDLE_SECONDS * 1_000;

const WORKLOAD = `
  const http = process.getBuiltinModule('node:http');
  let held;
  http.createServer((req, res) => {
    const answer = () => res.end(JSON.stringify({ url: req.url, authorization: req.headers.authorization ?? null }));
    if (req.url === '/hold') { held = answer; return; }
    answer();
    if (req.url === '/release') held();
  }).listen(Number(process.env.PORT));
`;

describe('a call of core', () => {
  let node: TestNode;
  let one: Assignment;

  before(async () => {
    node = await startTestNode();
    one = makeAssignment(await node.core.publish({ 'index.mjs': WORKLOAD }), {
      workload: { idleSeconds: IDLE_SECONDS },
    });
    node.core.assign([one]);
    await until('the assignment', async () => (await node.core.control('GET', status())).status === 200);
  });
  after(() => node.close());

  const status = () => `/installations/${one.installationId}/status`;
  const path = (below: string, id: string = one.installationId) => `/installations/${id}/call${below}`;
  const state = async () => (await node.core.status(one.installationId)).state;

  test('is carried for the credential of core alone, which the backend does not see', async () => {
    for (const wrong of ['pnc_wrong', capabilityFor(one)])
      assert.equal((await node.core.control('GET', path('/'), wrong)).status, 401);
    const endpoint = await request(node.runtime.listenerPort, `/control${path('/')}`, {
      headers: { authorization: `Bearer ${capabilityFor(one)}` },
    });
    assert.equal(endpoint.status, 404);
    assert.equal(
      (await node.core.control('GET', path('/', `${one.installationId.slice(0, -12)}ffffffffffff`))).status,
      404,
    );
    assert.equal(await state(), 'stopped', 'none of them has woken the backend');
    assert.deepEqual(await node.core.control('DELETE', path('/a/b?c=%2F')), {
      status: 200,
      body: { url: '/a/b?c=%2F', authorization: null },
    });
  });

  test('keeps the backend awake for as long as it lasts', async () => {
    const held = node.core.control('GET', path('/hold'));
    await until('the backend to hold it', async () => (await node.core.control('GET', path('/'))).status === 200);
    const questions = () => node.core.leaseQuestions.get(one.installationId) ?? 0;
    const former = questions();
    for (let passed = 0; passed < 10; passed += 1) node.clock.advance(IDLE);
    assert.deepEqual([await state(), questions()], ['running', former]);
    await node.core.control('GET', path('/release'));
    assert.equal((await held).status, 200);
    await until('it to sleep', async () => {
      node.clock.advance(IDLE);
      return (await state()) === 'stopped';
    });
    assert.equal((await node.core.control('GET', path('/'))).status, 200, 'the next call wakes it');
  });
});
