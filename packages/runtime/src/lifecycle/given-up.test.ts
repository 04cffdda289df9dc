// A workload that was given up stays given up over a restart of the Runtime, with the reason for its owner to read.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Assignment, InstallationStatus } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { startTestNode, type TestNode } from '../../test-support/node.ts';
import { makePlace, type Place } from '../../test-support/place.ts';

const CRASHES = `console.error('cannot work'); process.exit(1);`;
const REASON = 'Exited with code 1. Gave up after 5 failed starts.';

describe('a workload that was given up', () => {
  let place: Place;
  let node: TestNode;
  let crashing: string;
  let one: Assignment;

  before(async () => {
    place = makePlace();
    await start();
  });
  after(async () => {
    await node.close();
    place.remove();
  });

  async function start(): Promise<void> {
    node = await startTestNode({ place });
    crashing = await node.core.publish({ 'index.mjs': CRASHES });
  }
  async function restart(assignment: Assignment = one): Promise<void> {
    await node.close();
    await start();
    node.core.assign([assignment]);
    await until('the assignment', async () => (await node.core.control('GET', statusPath())).status === 200);
  }
  const statusPath = () => `/installations/${one.installationId}/status`;
  const starts = () => node.core.starts.get(one.installationId)?.length ?? 0;
  const failed = () =>
    until('it to be given up', async () => {
      const status = await node.core.status(one.installationId);
      // Only between two attempts: to one under way the time would be over before it has begun.
      const delay = /Next attempt in (\d+) s/.exec(status.reason ?? '')?.[1];
      if (delay !== undefined) node.clock.advance(Number(delay) * 1_000);
      return status.state === 'failed' ? status : undefined;
    });

  test('is not tried again by a restart, and its status says the same as before', async () => {
    one = makeAssignment(crashing, { desired: 'always', workload: { mode: 'always' } });
    node.core.assign([one]);
    const before: InstallationStatus = await failed();
    assert.equal(before.reason, REASON);
    await restart();
    assert.deepEqual(await node.core.status(one.installationId), before);
    const answer = await node.call(one);
    assert.deepEqual([answer.status, JSON.parse(answer.text).code], [503, 'workload_unavailable']);
    assert.match(JSON.parse(answer.text).detail, /Exited with code 1/);
    assert.equal(starts(), 0);
  });

  test('is tried again when its owner starts it', async () => {
    void node.core.control('POST', `/installations/${one.installationId}/start`);
    await until('a start', () => starts() > 0);
    await failed();
  });

  test('is tried again when another version takes its place', async () => {
    await restart({ ...one, version: '2.0.0' });
    await until('a start', () => starts() > 0);
    await failed();
  });

  test('is tried again when what was kept of it cannot be read', async () => {
    await node.close();
    writeFileSync(join(place.folder, 'runtime', 'failures.json'), '[{"startedWith": 7');
    await start();
    node.core.assign([one]);
    await until('a start', () => starts() > 0);
    assert.ok(node.logged.some((line) => line.startsWith('the list of failed workloads could not be read')));
  });

  test('because its package is wrong is looked at again after a restart, which may have mended the machine', async () => {
    one = makeAssignment(crashing, { workload: { entry: 'other.mjs' } });
    node.core.assign([one]);
    await node.call(one);
    assert.equal((await node.core.status(one.installationId)).state, 'failed');
    await restart();
    assert.equal((await node.core.status(one.installationId)).state, 'stopped');
  });

  test('because core did not answer is no failure of its own: its next use tries it again', async () => {
    one = makeAssignment(crashing);
    node.core.assign([one]);
    node.core.answerStarts(503);
    const call = node.call(one);
    const status = await until('it to be left alone', async () => {
      node.clock.advance(8_000);
      const now = await node.core.status(one.installationId);
      return now.state === 'stopped' && now.reason !== undefined ? now : undefined;
    });
    assert.equal(status.reason, 'The platform could not prepare the start.');
    assert.equal((await call).status, 503);
    node.core.answerStarts(200);
    void node.call(one);
    await until('another start', () => starts() > 0);
  });
});
