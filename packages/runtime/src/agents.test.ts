// What drivers are given for an agent: the worker and its instructions, made once, whole, and gone when nobody needs them.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeAssignment } from '../test-support/core-double.ts';
import { makePlace } from '../test-support/place.ts';
import { agentVariables, openRunnables, type Runnable } from './agents.ts';
import { StartRefused } from './drivers/driver.ts';
import type { PackageStore } from './packages.ts';

const [FIRST, SECOND] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];

function world(t: TestContext, { failing = 0, identity = 'one' } = {}) {
  const place = makePlace();
  t.after(() => place.remove());
  const made: string[] = [];
  const packages: PackageStore = {
    workloadFolder: async (hash) => join(place.folder, 'workloads', hash),
    placeOf: (hash) => join(place.folder, 'workloads', hash),
    keepOnly: async () => undefined,
  };
  for (const hash of [FIRST, SECOND]) {
    mkdirSync(packages.placeOf(hash), { recursive: true });
    writeFileSync(join(packages.placeOf(hash), 'rules.txt'), `Rules of ${hash[0]}.`);
  }
  const open = (own = identity) =>
    openRunnables(packages, join(place.folder, 'agents'), {
      identity: () => own,
      async makeProgram(file) {
        made.push(file);
        if (made.length <= failing) throw new Error('The disk is full.');
        writeFileSync(file, `worker ${own}`);
      },
    });
  return { open, made, agents: join(place.folder, 'agents'), packages };
}

const agent = (hash: string, instructions = 'rules.txt') =>
  makeAssignment(hash, { workload: { runtime: 'agent', entry: undefined, agent: { instructions } } });

const contentOf = ({ app }: Runnable) =>
  Object.fromEntries(readdirSync(app).map((name) => [name, readFileSync(join(app, name), 'utf8')]));

test('an agent is a script with its instructions beside it, and all share one worker', async (t) => {
  const { open, made } = world(t);
  const runnables = open();
  const [first, again, second] = await Promise.all([FIRST, FIRST, SECOND].map((hash) => runnables.of(agent(hash))));
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(again, first);
  assert.equal(made.length, 1);
  assert.deepEqual([first.manifest.runtime, first.manifest.entry], ['node', 'agent-worker.mjs']);
  assert.deepEqual([first.manifest.agent, first.program], [undefined, 'one']);
  assert.deepEqual(contentOf(first), { 'agent-worker.mjs': 'worker one', 'instructions.md': 'Rules of 1.' });
  assert.deepEqual(contentOf(second)['instructions.md'], 'Rules of 2.');
  const inode = ({ app }: Runnable) => statSync(join(app, 'agent-worker.mjs')).ino;
  assert.equal(inode(first), inode(second));
  await open().of(agent(FIRST));
  assert.equal(made.length, 1, 'it is kept from one start to the next');
});

test('another worker has a place of its own, and what nobody needs goes', async (t) => {
  const { open, agents } = world(t);
  const former = await open().of(agent(FIRST));
  const runnables = open('two');
  const next = await runnables.of(agent(FIRST));
  assert.notEqual(next.app, former.app);
  assert.equal(contentOf(next)['agent-worker.mjs'], 'worker two');
  await runnables.keepOnly([agent(FIRST), makeAssignment(SECOND)]);
  assert.deepEqual(readdirSync(agents).sort(), [`${FIRST}-two`, 'worker-two.mjs']);
  await runnables.keepOnly([makeAssignment(SECOND)]);
  assert.deepEqual(readdirSync(agents), []);
});

test('a worker that could not be made is made at the next attempt', async (t) => {
  const { open } = world(t, { failing: 1 });
  const runnables = open();
  await assert.rejects(runnables.of(agent(FIRST)), /disk is full/);
  assert.equal(contentOf(await runnables.of(agent(FIRST)))['agent-worker.mjs'], 'worker one');
});

test('a package without its instructions, and a machine without the worker, refuse the start', async (t) => {
  const { open, agents, packages } = world(t);
  await assert.rejects(open().of(agent(FIRST, 'other.txt')), StartRefused);
  const bare = openRunnables(packages, agents, undefined);
  await assert.rejects(bare.of(agent(FIRST)), /runs no agents/);
  await bare.keepOnly([agent(FIRST)]);
});

test('other backends are what they were', async (t) => {
  const { open, packages, made } = world(t);
  const script = makeAssignment(FIRST);
  assert.deepEqual(await open().of(script), { app: packages.placeOf(FIRST), manifest: script.workload });
  assert.deepEqual(agentVariables(script), {});
  assert.equal(made.length, 0);
});
