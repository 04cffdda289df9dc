// Where no sandbox can be made, nothing runs, unless the operator has said otherwise.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { startTestNode } from '../../test-support/node.ts';
import { descendants } from '../../test-support/processes.ts';

const SERVER = `
  import { spawn } from 'node:child_process';
  const http = process.getBuiltinModule('node:http');
  spawn('sleep', ['1000'], { stdio: 'ignore' }).unref();
  http.createServer((_req, res) => res.end(JSON.stringify(process.env))).listen(Number(process.env.PORT));
`;

async function assignTo(node: Awaited<ReturnType<typeof startTestNode>>) {
  const hash = await node.core.publish({ 'index.mjs': SERVER });
  const pair = [makeAssignment(hash), makeAssignment(hash)] as const;
  node.core.assign(pair);
  for (const one of pair) {
    await until(
      'the assignment',
      async () => (await node.core.control('GET', `/installations/${one.installationId}/status`)).status === 200,
    );
  }
  return pair;
}

test('a machine that cannot confine workloads refuses to start them and says why', async (t) => {
  const node = await startTestNode({ ways: [] });
  t.after(() => node.close());
  const [one] = await assignTo(node);
  const answer = await node.call(one);
  assert.equal(answer.status, 503);
  assert.match(JSON.parse(answer.text).detail, /This machine cannot confine the app/);
  assert.equal((await node.core.status(one.installationId)).state, 'failed');
  assert.match(node.runtime.sandbox, /^refused/);
  assert.equal(node.runtime.report.ok, false);
});

test('with the explicit permission they run as plain processes, each on a port of its own, and end completely', async (t) => {
  process.env.PT_HOST_SECRET = 'secret';
  t.after(() => delete process.env.PT_HOST_SECRET);
  const node = await startTestNode({ ways: [], allowUnsandboxed: true });
  t.after(() => node.close());
  const [one, two] = await assignTo(node);
  const first = JSON.parse((await node.call(one)).text);
  const second = JSON.parse((await node.call(two)).text);
  assert.notEqual(first.PORT, second.PORT);
  assert.equal(first.PT_HOST_SECRET, undefined);
  assert.match(first.PLATFORM_API_URL, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.match(node.runtime.sandbox, /^NOT confined/);
  const below = descendants(process.pid);
  assert.ok(below.length >= 4, `${below.length} processes`);
  await node.close();
  assert.deepEqual(
    below.filter((process) => process.alive()),
    [],
  );
});
