// What keeps a real workload awake and what does not, and how many wake at once.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { NODE_HOST, startTestNode, type TestNode } from '../../test-support/node.ts';

const IDLE_SECONDS = 30;
const IDLE = IDLE_SECONDS * 1_000;
/** Longer than the held clock is moved while something slow is waited for. */
const YEAR = 31_536_000_000;

const SERVER = `
  import net from 'node:net';
  const http = process.getBuiltinModule('node:http');
  const api = new URL(process.env.PLATFORM_API_URL);
  const headers = { authorization: 'Bearer ' + process.env.PLATFORM_GATEWAY_TOKEN };
  http.createServer(async (req, res) => {
    if (req.url === '/connect') {
      // Two connections to the Gateway that ask nothing: one silent, one in the middle of a head.
      net.connect(api.port, api.hostname).on('error', () => {});
      net.connect(api.port, api.hostname, function () { this.write('GET /v1/serv', () => res.end('connected')); }).on('error', () => {});
      return;
    }
    if (req.url === '/listen') {
      const stream = await fetch(new URL('/v1/services/stream', api), { headers });
      stream.text().catch(() => {});
      return res.end('listening');
    }
    if (req.url === '/events') return res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\\n\\n');
    res.end('hello from ' + process.env.PLATFORM_APP_ORIGIN);
  }).listen(Number(process.env.PORT));
`;

describe('a workload', () => {
  let node: TestNode;
  let server: string;

  before(async () => {
    node = await startTestNode();
    server = await node.core.publish({ 'index.mjs': SERVER });
  });
  after(() => node.close());

  const assigned: Assignment[] = [];
  const awake = async (): Promise<Assignment> => {
    const one = makeAssignment(server, { workload: { idleSeconds: IDLE_SECONDS } });
    assigned.push(one);
    node.core.assign([...assigned]);
    assert.equal((await node.call(one)).status, 200);
    return one;
  };
  const state = async (one: Assignment) => (await node.core.status(one.installationId)).state;
  const questions = (one: Assignment) => node.core.leaseQuestions.get(one.installationId) ?? 0;
  /** Lets the idle delay pass; resolves when the node has asked core once more. */
  const passIdleAndAsk = async (one: Assignment) => {
    const before = questions(one);
    await until('core to be asked for leases', () => {
      node.clock.advance(IDLE);
      return questions(one) > before;
    });
  };
  const sleeps = (one: Assignment) =>
    until('it to sleep', async () => {
      node.clock.advance(IDLE);
      return (await state(one)) === 'stopped';
    });

  test('with a work lease stays awake, and sleeps when the lease is over', async () => {
    const one = await awake();
    node.core.leases.set(one.installationId, node.clock.now().getTime() + YEAR);
    await passIdleAndAsk(one);
    assert.equal(await state(one), 'running');
    node.core.leases.set(one.installationId, node.clock.now().getTime() - IDLE);
    node.clock.advance(YEAR);
    await sleeps(one);
    assert.equal((await node.call(one)).status, 200, 'the next request wakes it');
  });

  test('stays awake while core cannot be asked, and sleeps when it can', async () => {
    const one = await awake();
    node.core.answerLeases(503);
    await passIdleAndAsk(one);
    await passIdleAndAsk(one);
    assert.equal(await state(one), 'running');
    node.core.answerLeases(200);
    await sleeps(one);
  });

  test('that only holds connections to its Gateway open sleeps', async () => {
    const one = await awake();
    assert.equal((await node.call(one, '/connect')).text, 'connected');
    await sleeps(one);
  });

  test('that listens to a stream of the platform stays awake until the stream ends', async () => {
    const one = await awake();
    assert.equal((await node.call(one, '/listen')).text, 'listening');
    for (let times = 0; times < 5; times += 1) node.clock.advance(IDLE);
    assert.deepEqual([await state(one), questions(one)], ['running', 0]);
    node.core.endStreams();
    await sleeps(one);
  });

  test('whose stream has a reader stays awake until the reader leaves', async () => {
    const one = await awake();
    const reader = await readStream(node, one);
    for (let times = 0; times < 5; times += 1) node.clock.advance(IDLE);
    assert.deepEqual([await state(one), questions(one)], ['running', 0]);
    reader.destroy();
    await sleeps(one);
  });

  test('is one of fifty that wake at once, and every one of them answers', async () => {
    const many = Array.from({ length: 50 }, () =>
      makeAssignment(server, { workload: { resources: { memoryMiB: 64, pids: 32 } } }),
    );
    node.core.assign([...assigned, ...many]);
    // Twice each: the second shares the start of the first.
    const answers = await Promise.all([...many, ...many].map((one) => node.call(one)));
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200).map(({ status, text }) => [status, text]),
      [],
    );
    assert.deepEqual(
      answers.map(({ text }) => text),
      [...many, ...many].map(({ appOrigin }) => `hello from ${appOrigin}`),
    );
    for (const one of many) assert.equal(node.core.starts.get(one.installationId)?.length, 1);
    node.core.assign(assigned);
  });
});

/** Reads the events of the backend as its page does; resolves when the first bytes are there. */
function readStream({ runtime }: TestNode, one: Assignment): Promise<http.ClientRequest> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      {
        host: '127.0.0.1',
        port: runtime.listenerPort,
        path: `/e/${one.endpointId}/events`,
        headers: { host: NODE_HOST, origin: one.appOrigin, authorization: `Bearer ${capabilityFor(one)}` },
        agent: false,
      },
      (response) => {
        response.on('error', () => {});
        response.once('data', () => resolve(request));
      },
    );
    request.on('error', reject);
  });
}
