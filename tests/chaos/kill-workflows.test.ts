// The app, the Gateway, core and PostgreSQL are killed with SIGKILL while calls of workflows stand at every moment on
// their way to a commit and back; then everything runs again. No completed step is executed again, none is lost, and
// nobody writes with a lease that somebody else took over.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from '../support/child.ts';
import type { HeldMoment } from '../support/held-moments.ts';
import { thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';
import { type Ended, MOMENTS, type Order, type PlacedMoment } from './workflow-moments.ts';
import { type StoredStep, startWorkflowWorld, type WorkflowWorld } from './workflow-world.ts';

const APP = fileURLToPath(new URL('./workflow-app.ts', import.meta.url));
const VICTIMS = ['app', 'Gateway', 'core', 'PostgreSQL'] as const;
type Victim = (typeof VICTIMS)[number];
/** Moments at which calls stand when the victim is killed; in a thorough run one at a time. */
const BATCHES: readonly (readonly PlacedMoment[])[] = thorough(
  [MOMENTS],
  MOMENTS.map((one) => [one]),
);
const LONGEST_MILLISECONDS = 90_000;

let world: WorkflowWorld;
let app: Child;
const ended = new Map<string, Ended>();

before(async () => {
  world = await startWorkflowWorld();
  app = startApp();
});
after(async () => {
  await app?.kill();
  await world?.close();
});

function startApp(): Child {
  const { environment } = world;
  const onLine = (line: string) => {
    const one = JSON.parse(line) as Ended;
    ended.set(one.key, one);
  };
  return startChild(APP, { environment, onLine });
}

const kill: Record<Victim, () => Promise<void>> = {
  app: () => app.kill(),
  Gateway: () => world.gateway.kill(),
  core: () => world.core.kill(),
  PostgreSQL: () => world.postgres.kill(),
};

const restart: Record<Victim, (orders: readonly Order[]) => Promise<void>> = {
  async app(orders) {
    app = startApp();
    for (const order of orders) app.send(order);
  },
  async Gateway() {
    world.gateway = await world.startGateway();
  },
  async core() {
    world.core = await world.startCore();
  },
  PostgreSQL: () => world.postgres.start(),
};

for (const victim of VICTIMS) {
  for (const batch of BATCHES) {
    const [first] = batch;
    const where = batch.length === 1 ? `a call stands at "${first?.moment}"` : `calls stand at ${batch.length} moments`;
    test(`${victim} is killed while ${where}`, { timeout: 3 * LONGEST_MILLISECONDS }, async (context) => {
      const orders = batch.map(({ moment, kind }) => ({ kind, key: `${victim} ${batch.length} ${moment}` }));
      const standing: HeldMoment[] = [];
      for (const [index, { moment }] of batch.entries()) {
        const one = world.hold(moment);
        standing.push(one);
        app.send(orders[index]);
        await reached(one, moment);
      }
      const completed = (await world.steps()).filter(({ result }) => result !== null);
      const before = world.sink.asked.length;

      await kill[victim]();
      for (const one of standing) one.release();
      await restart[victim](orders);
      await allEnd(orders, { died: victim === 'app' });

      const again = new Set(world.sink.asked.slice(before).map(({ idempotencyKey }) => idempotencyKey));
      for (const step of completed) assert.ok(!again.has(step.id), `${step.key}: ${step.step} was executed again`);
      const steps = await world.steps();
      for (const order of orders) await judge(order, steps, { died: victim === 'app' });
      context.diagnostic(`${world.fenced()} writes with former leases were refused`);
      if (victim === 'app' && batch === MOMENTS) assert.ok(world.fenced() > 0);
    });
  }
}

/** Throws when nothing comes there. */
async function reached(one: HeldMoment, moment: string): Promise<void> {
  let arrived = false;
  void one.reached.then(() => {
    arrived = true;
  });
  await until(`a call at "${moment}"`, () => arrived);
}

/** Only what a dead app had claimed waits for the end of its leases. */
async function allEnd(orders: readonly Order[], { died }: { readonly died: boolean }): Promise<void> {
  const open = () => orders.filter(({ key }) => !ended.has(key)).map(({ key }) => key);
  const none = async () => {
    if (died) await world.aMinuteLater();
    return open().length === 0;
  };
  await until('all runs to end', none, LONGEST_MILLISECONDS).catch((error: Error) => {
    throw new Error(`${error.message}; still running: ${open().join(', ')}`);
  });
}

/** Every effect happened once, its receipt is the step's result, and the run ended as its function does. */
async function judge(
  { kind, key }: Order,
  all: readonly StoredStep[],
  { died }: { readonly died: boolean },
): Promise<void> {
  const { sink } = world;
  const steps = all.filter((step) => step.key === key);
  const { run_id: runId = '', status } = steps[0] ?? {};
  const { result, error } = ended.get(key) ?? {};
  const expected = kind === 'cancelled' ? ['cancelled', 'workflow_not_running'] : ['completed', undefined];
  assert.deepEqual([status, error], expected, key);
  const receipts: (string | undefined)[] = [];
  for (const { id, step, result: kept } of steps) {
    if (step === 'wait') continue;
    const asked = sink.asked.filter((one) => one.runId === runId && one.step === step);
    assert.deepEqual([...new Set(asked.map(({ idempotencyKey }) => idempotencyKey))], [id], `${key}: ${step}`);
    assert.ok(asked.length <= (died ? 2 : 1), `${key}: ${step} was executed ${asked.length} times`);
    assert.equal(kept, JSON.stringify(sink.receipts.get(id)), `${key}: ${step}`);
    receipts.push(sink.receipts.get(id));
  }
  if (kind !== 'cancelled') assert.deepEqual(result?.toSorted(), receipts.toSorted(), key);
  await judgeHistory(runId, kind, key);
}

/** It has no gaps, completes each step once, and has one beginning and one end. */
async function judgeHistory(runId: string, kind: Order['kind'], key: string): Promise<void> {
  const events = await world.postgres.query<{ sequence: number; event: string; step: string | null }>(
    'SELECT sequence, event, step FROM workflow_history WHERE run_id = $1 ORDER BY sequence',
    [runId],
  );
  const note = `${key}: ${JSON.stringify(events)}`;
  const sequences = events.map(({ sequence }) => sequence);
  assert.deepEqual(
    sequences,
    [...sequences.keys()].map((index) => index + 1),
    note,
  );
  const completed = events.filter(({ event }) => event === 'activity-completed').map(({ step }) => step);
  assert.equal(new Set(completed).size, completed.length, note);
  const boundaries = events.map(({ event }) => event).filter((event) => /^(created|completed|cancelled)$/.test(event));
  assert.deepEqual(boundaries, ['created', kind === 'cancelled' ? 'cancelled' : 'completed'], note);
  assert.equal(events.at(-1)?.event, boundaries[1], note);
}
