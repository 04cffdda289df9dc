// The lease of a node: what may run elsewhere stops here before core, hearing nothing, may believe that it did.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Assignment, InstallationStatus, NodeLease } from '@platform/contract';
import { RemovedError } from '@platform/link';
import { until } from '../../../tests/support/wait.ts';
import { makeAssignment } from '../test-support/core-double.ts';
import { startTestNode, type TestNode } from '../test-support/node.ts';
import type { Log } from './clock.ts';
import { Lease } from './lease.ts';

const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const never = new AbortController().signal;

describe('a lease', () => {
  let uptime: number;
  let lapses: number;
  let removals: number;
  let answer: (signal: AbortSignal) => Promise<NodeLease>;
  let lease: Lease;

  beforeEach(() => {
    [uptime, lapses, removals] = [0, 0, 0];
    answer = async () => ({ leaseMilliseconds: 45_000, heartbeatMilliseconds: 10_000 });
    lease = new Lease({
      heartbeat: (_milliseconds, signal) => answer(signal),
      uptime: () => uptime,
      hooks: {
        lapsed() {
          lapses += 1;
        },
        removed() {
          removals += 1;
        },
      },
      log,
    });
  });

  test('is not held before core has answered, and ends on time', async () => {
    assert.equal(lease.held(), false);
    await lease.beat(never);
    assert.equal(lease.held(), true);
    uptime = 44_999;
    assert.equal(lease.held(), true);
    uptime = 45_000;
    assert.deepEqual([lease.held(), lapses], [false, 1]);
  });

  test('counts from when the heartbeat was sent, not from when the answer came', async () => {
    answer = async () => {
      uptime += 30_000;
      return { leaseMilliseconds: 45_000, heartbeatMilliseconds: 10_000 };
    };
    await lease.beat(never);
    uptime = 44_999;
    assert.equal(lease.held(), true);
    uptime = 45_000;
    assert.equal(lease.held(), false);
  });

  test('an answer that comes too late begins none', async () => {
    answer = async () => {
      uptime += 45_000;
      return { leaseMilliseconds: 45_000, heartbeatMilliseconds: 10_000 };
    };
    await lease.beat(never);
    assert.equal(lease.held(), false);
  });

  test('a process that was held up stops what it ran before it goes on with a new lease', async () => {
    await lease.beat(never);
    const former = lease.turn;
    uptime = 100_000;
    await lease.beat(never);
    assert.deepEqual([lapses, lease.held(), former.aborted], [1, true, true]);
  });

  test('without an end it is held for ever', async () => {
    answer = async () => ({ leaseMilliseconds: null, heartbeatMilliseconds: 10_000 });
    await lease.beat(never);
    uptime = 1e12;
    assert.deepEqual([lease.held(), lapses], [true, 0]);
  });

  test('a node that core does not know any more stops everything', async () => {
    answer = async () => ({ leaseMilliseconds: 45_000, heartbeatMilliseconds: 1 });
    await lease.beat(never);
    answer = async () => {
      throw new RemovedError();
    };
    const ending = new AbortController();
    const kept = lease.keep(ending.signal);
    await until('the node to notice', () => removals > 0);
    ending.abort();
    await kept;
    assert.deepEqual([lease.held(), lapses], [false, 0]);
  });
});

describe('a node without its lease', () => {
  const SERVER =
    "const http = process.getBuiltinModule('node:http'); http.createServer((q, r) => r.end('up')).listen(process.env.PORT);";
  const lease = { leaseMilliseconds: 45_000, heartbeatMilliseconds: 50 };
  let node: TestNode;
  let uptime = 0;

  before(async () => {
    node = await startTestNode({ uptime: () => uptime, lease });
  });
  after(() => node.close());

  test('stops what may run elsewhere and keeps what may not; both run again when core is back', async () => {
    const hash = await node.core.publish({ 'index.mjs': SERVER });
    const always = { desired: 'always', workload: { mode: 'always' } } as const;
    const bound = makeAssignment(hash, always);
    const movable = { ...makeAssignment(hash, always), movable: true };
    node.core.assign([bound, movable]);
    // A call that is under way when its workload may no longer run here is cut off.
    const answers = (one: Assignment) =>
      node.call(one).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      );
    const state = async (one: Assignment) => {
      const { status, body } = await node.core.control('GET', `/installations/${one.installationId}/status`);
      return status === 200 ? (body as InstallationStatus).state : undefined;
    };
    for (const one of [bound, movable]) await until('it to run', async () => (await state(one)) === 'running');
    const { since } = await node.core.status(bound.installationId);
    node.core.answerHeartbeats('silence');
    uptime = 44_999;
    assert.deepEqual([await answers(bound), await answers(movable)], [200, 200]);
    uptime = 45_000;
    await until('what can move to be stopped', async () => (await answers(movable)) === 404);
    assert.equal(await answers(bound), 200);
    const starts = node.core.starts.get(movable.installationId)?.length;
    node.core.answerHeartbeats(lease);
    await until('it to run again', async () => (await state(movable)) === 'running');
    assert.equal(node.core.starts.get(movable.installationId)?.length, (starts ?? 0) + 1, 'with new credentials');
    assert.equal((await node.core.status(bound.installationId)).since, since, 'the other ran on');
  });

  test('what was wrong on this machine is put right without a new revision', async () => {
    const hash = await node.core.publish({ 'index.mjs': SERVER });
    const one = makeAssignment(hash, { desired: 'always', workload: { mode: 'always' } });
    node.core.assign([one]);
    const running = async () => {
      const { status, body } = await node.core.control('GET', `/installations/${one.installationId}/status`);
      return status === 200 && (body as InstallationStatus).state === 'running';
    };
    await until('it to run', running);
    await node.core.control('DELETE', `/installations/${one.installationId}`);
    assert.equal(await running(), false);
    uptime += 60_000;
    node.core.answerAssignments();
    await until('it to run again', running);
  });
});
