// Random schedules of claims, renewals, expiries and completions by executors that compete, under a clock that jumps,
// against a model: every answer and the history are as the model says. PLATFORM_TEST_SEED repeats a failure.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type InstallationId, RefusalError } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { fc } from '../../../../tests/support/fast-check.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import { WorkflowModel } from '../../test-support/workflow-model.ts';
import type { ProvenTime, Time } from '../clock/clock-guard.ts';
import { claimActivity, completeActivity, renewActivity } from './activities.ts';
import { readHistory } from './history.ts';
import { completeRun, createRun, deleteRun } from './runs.ts';

/** Schedules that go on at the same time, each with a run and a clock of its own. */
const AT_ONCE = 50;
const ROUNDS = thorough(50, 200);
const START = Date.parse('2026-11-21T10:00:00.000Z');
const DURATION_SECONDS = 600;

let world: Constellation;
let installationId: InstallationId;
let schedules = 0;

before(async () => {
  // The housekeeping lives long before all schedules.
  world = await startConstellation({ clock: () => new Date(START - 86_400_000) });
  const app = await installTestApp(world, await registerAccount(world, 'merchant'), 'shop', []);
  installationId = app.installationId as InstallationId;
});
after(() => world?.close());

const executor = fc.nat({ max: 2 });
const step = fc.constantFrom('a', 'b');
const result = fc.nat({ max: 1 });
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('claim' as const), executor, step, variant: fc.constantFrom(0, 0, 0, 1) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew' as const), executor, step }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('complete' as const), executor, step, result }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), executor, step }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      milliseconds: fc.constantFrom(
        1,
        20_000,
        59_999,
        60_000,
        60_001,
        300_000,
        600_000,
        -1,
        -30_000,
        -60_000,
        -3_600_000,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), result }) },
  { weight: 1, arbitrary: fc.constant({ do: 'cancel' as const }) },
);
type Action = Extract<typeof action, fc.Arbitrary<unknown>> extends fc.Arbitrary<infer One> ? One : never;

interface Claimed {
  readonly activityId: Parameters<typeof renewActivity>[1]['id'];
  readonly leaseToken: string;
  /** As the model numbers it. */
  readonly claim: number;
}

async function follow(actions: readonly Action[]): Promise<void> {
  let now = START;
  const clock = () => new Date(now);
  // Time itself goes back and forth here, so nothing is held.
  const proven = () => clock() as ProvenTime;
  const time: Time = {
    now: clock,
    proven,
    sweep: async () => proven(),
    held: () => null,
    accept: async () => undefined,
  };
  const context = { ...world.core.context, clock, time };
  schedules += 1;
  const { run } = await createRun(context, installationId, {
    definition: 'model',
    version: 1,
    idempotencyKey: `schedule-${schedules}`,
    input: null,
    durationSeconds: DURATION_SECONDS,
  });
  const ofRun = { installationId, workflowId: run.id };
  const model = new WorkflowModel(START + DURATION_SECONDS * 1_000);
  /** The last claim of each executor on each step. */
  const claims = new Map<string, Claimed>();

  async function take(one: Action): Promise<{ readonly is: string; readonly shouldBe: string } | null> {
    if (one.do === 'wait') {
      now += one.milliseconds;
      return null;
    }
    if (one.do === 'end') {
      const is = outcomeOf(
        completeRun(context, { installationId, id: run.id }, { status: 'completed', result: one.result }),
        () => 'completed',
      );
      return { shouldBe: model.end(now, one.result), is: await is };
    }
    if (one.do === 'cancel') {
      // Of a run that has ended nothing would be left.
      if (model.statusAt(now) !== 'running') return null;
      model.cancel();
      return {
        shouldBe: 'cancelled',
        is: await outcomeOf(deleteRun(context, installationId, run.id), () => 'cancelled'),
      };
    }
    const key = `${one.executor} ${one.step}`;
    if (one.do === 'claim') {
      const expected = model.claim(now, one.step, one.variant);
      const is = await outcomeOf(
        claimActivity(context, ofRun, one.step, { activity: 'work', input: one.variant }),
        (answer) => {
          if (answer.outcome === 'completed') return `completed ${answer.activity.result}`;
          const { id, leaseToken, attempt } = answer.activity;
          claims.set(key, { activityId: id, leaseToken, claim: expected.claim ?? 0 });
          return `claimed ${attempt}`;
        },
      );
      return { shouldBe: expected.outcome, is };
    }
    const held = claims.get(key);
    if (held === undefined) return null;
    const activity = { ...ofRun, id: held.activityId };
    const { leaseToken } = held;
    if (one.do === 'renew') {
      const is = outcomeOf(renewActivity(context, activity, leaseToken), () => 'renewed');
      return { shouldBe: model.renew(now, one.step, held.claim), is: await is };
    }
    const end = one.do === 'complete' ? { leaseToken, result: one.result } : { leaseToken, error: { message: 'no' } };
    const is = outcomeOf(completeActivity(context, activity, end), () => 'settled');
    return {
      shouldBe: model.settle(now, one.step, held.claim, one.do === 'complete' ? one.result : null),
      is: await is,
    };
  }

  for (const [index, one] of actions.entries()) {
    const taken = await take(one);
    if (taken !== null) assert.equal(taken.is, taken.shouldBe, `action ${index} of ${JSON.stringify(actions)}`);
  }
  if (model.statusAt(now) === 'expired') model.events.push('expired');
  const { items } = await readHistory(context, ofRun, { limit: 200 });
  assert.deepEqual(
    items.map(({ event, step: name, attempt }) => (name === undefined ? event : `${event} ${name}#${attempt}`)),
    model.events,
  );
  assert.deepEqual(
    items.map(({ sequence }) => sequence),
    items.map((_, index) => index + 1),
  );
  if (model.statusAt(now) === 'running') await deleteRun(context, installationId, run.id);
  await deleteRun(context, installationId, run.id);
}

async function outcomeOf<Answer>(work: Promise<Answer>, say: (answer: Answer) => string): Promise<string> {
  try {
    return say(await work);
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal.code;
    throw error;
  }
}

test(`${ROUNDS * AT_ONCE} random schedules end as the model says`, async () => {
  const schedule = fc.array(action, { minLength: 4, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(schedule, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (batch) => {
      await Promise.all(batch.map(follow));
    }),
    { numRuns: ROUNDS },
  );
  assert.ok(schedules >= ROUNDS * AT_ONCE);
});
