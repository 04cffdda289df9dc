// The lease of an activity while its executor runs: renewed by a clock that the test moves, and never believed longer than
// it lasts.
import { strict as assert } from 'node:assert';
import { beforeEach, test } from 'node:test';
import type { WorkflowActivity } from '@platform/contract';
import { type HeldClock, heldClock, until } from '../test-support/held-clock.ts';
import { PlatformError } from './platform-error.ts';
import { type Execution, type Executor, runActivity } from './run-activity.ts';
import type { WorkflowCalls } from './workflows.ts';

const RENEWAL = 20_000;
const LEASE = 60_000;
const RETRY = 2_000;

/** A fake of the platform: claims are granted or give another process's result, renewals do what the test says. */
let calls: string[];
let renew: (signal: AbortSignal | undefined) => Promise<WorkflowActivity>;
let completedElsewhere: boolean;
let stopped: unknown[];
let clock: HeldClock;
let execution: Execution;

const activity = { id: 'act-1', step: 's', name: 'n', attempt: 1, leaseToken: 'token' } as never;
const refusal = (code: PlatformError['code'], status: number) => new PlatformError({ code, status, detail: code });

beforeEach(() => {
  calls = [];
  stopped = [];
  completedElsewhere = false;
  clock = heldClock();
  renew = async () => activity;
  const fake: Pick<WorkflowCalls, 'claim' | 'renew' | 'settle'> = {
    async claim() {
      calls.push('claim');
      return completedElsewhere
        ? ({ outcome: 'completed', activity: { result: 'theirs' } } as never)
        : ({ outcome: 'claimed', activity } as never);
    },
    async renew(_run, _activity, token, { signal }) {
      calls.push(`renew ${token}`);
      return renew(signal);
    },
    async settle(_run, _activity, body) {
      if (completedElsewhere) throw refusal('lease_lost', 409);
      calls.push('error' in body ? 'give back' : 'complete');
      return activity;
    },
  };
  execution = {
    calls: fake as WorkflowCalls,
    runId: 'wf-1',
    clock,
    random: () => 0.5,
    signal: new AbortController().signal,
    stop: (reason) => void stopped.push(reason),
  };
});

/** Runs one activity whose executor waits; `signal` is the executor's. */
async function running() {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  let signal: AbortSignal | undefined;
  const executor: Executor<null, unknown> = (_input, context) => {
    signal = context.signal;
    return promise;
  };
  const result = runActivity(execution, { step: 's', name: 'n', input: null }, executor, {});
  // Some tests look at the signal first.
  result.catch(() => {});
  await until(() => signal !== undefined);
  assert.ok(signal !== undefined);
  return { result, resolve, reject, signal };
}

/** Until the renewal under way is answered and the next one is planned. */
const planned = () => until(() => clock.timers() === 1);

test('it is renewed every 20 seconds, and no more when the executor has ended', async () => {
  const { result, resolve, signal } = await running();
  clock.advance(RENEWAL - 1);
  assert.deepEqual(calls, ['claim']);
  clock.advance(1);
  await planned();
  for (let time = 0; time < 5; time += 1) {
    clock.advance(RENEWAL);
    await planned();
  }
  assert.deepEqual(calls, ['claim', ...Array(6).fill('renew token')]);
  assert.equal(signal.aborted, false);
  resolve('done');
  assert.equal(await result, 'done');
  assert.equal(clock.timers(), 0);
  assert.equal(calls.at(-1), 'complete');
});

test('when it is lost the executor’s signal aborts, and the result is that of who has the step', async () => {
  const { result, resolve, signal } = await running();
  const lost = refusal('lease_lost', 409);
  renew = () => Promise.reject(lost);
  completedElsewhere = true;
  clock.advance(RENEWAL);
  await until(() => signal.aborted);
  assert.equal(signal.reason, lost);
  assert.equal(clock.timers(), 0);
  resolve('mine');
  assert.equal(await result, 'theirs');
  assert.deepEqual(stopped, []);
});

test('a renewal that fails is tried again every two seconds, and in time the lease is lost', async () => {
  const { result, resolve, signal } = await running();
  renew = () => Promise.reject(refusal('unavailable', 503));
  clock.advance(RENEWAL);
  await planned();
  for (let now = RENEWAL + RETRY; now < LEASE; now += RETRY) {
    clock.advance(RETRY);
    await planned();
    assert.equal(signal.aborted, false, `after ${now} ms`);
  }
  clock.advance(RETRY);
  await until(() => signal.aborted);
  const { code, cause } = signal.reason as PlatformError;
  assert.deepEqual([code, (cause as PlatformError).code], ['lease_lost', 'unavailable']);
  assert.equal(clock.timers(), 0);
  // Nobody else had claimed it, so the platform still takes the result.
  resolve('late');
  assert.equal(await result, 'late');
});

test('a renewal counts from when it was sent, not from when its answer came', async () => {
  const { resolve, result, signal } = await running();
  const answer = Promise.withResolvers<WorkflowActivity>();
  renew = () => answer.promise;
  clock.advance(RENEWAL);
  clock.advance(30_000);
  answer.resolve(activity);
  await planned();
  // Sent at 20 s, so it lasts until 80 s.
  renew = () => Promise.reject(refusal('unavailable', 503));
  clock.advance(RENEWAL);
  await planned();
  assert.equal(signal.aborted, false, 'at 70 s');
  clock.advance(10_000);
  await until(() => signal.aborted);
  resolve(null);
  await result;
});

test('one failure and a success leave the lease as if nothing had been', async () => {
  const { resolve, result, signal } = await running();
  const works = renew;
  renew = () => Promise.reject(refusal('network_failed', 0));
  clock.advance(RENEWAL);
  await planned();
  renew = works;
  clock.advance(RETRY);
  await planned();
  clock.advance(LEASE - 1);
  await planned();
  assert.equal(signal.aborted, false);
  resolve(null);
  await result;
});

for (const [code, status] of [
  ['workflow_not_running', 409],
  ['not_found', 404],
] as const) {
  test(`a run that is no more (${code}) is stopped, not only the step`, async () => {
    const { resolve, result } = await running();
    const over = refusal(code, status);
    renew = () => Promise.reject(over);
    clock.advance(RENEWAL);
    await until(() => stopped.length === 1);
    assert.equal(stopped[0], over);
    assert.equal(clock.timers(), 0);
    resolve(null);
    await result;
  });
}

test('a renewal under way when the executor ends is given up, and changes nothing', async () => {
  const { resolve, result } = await running();
  let abandoned = false;
  renew = (signal) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        abandoned = true;
        reject(signal.reason);
      });
    });
  clock.advance(RENEWAL);
  await until(() => calls.includes('renew token'));
  resolve('done');
  assert.equal(await result, 'done');
  await until(() => abandoned);
  assert.equal(clock.timers(), 0);
});

test('an executor that throws gives the step back, and its renewals end', async () => {
  const { reject, result } = await running();
  reject(new Error('declined'));
  await assert.rejects(result);
  assert.deepEqual(calls, ['claim', 'give back']);
  assert.equal(clock.timers(), 0);
});
