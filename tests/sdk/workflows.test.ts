// Workflows as an app runs them: the SDK through a real Gateway to a real core.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Flow, PlatformError, type PlatformServicesClient, type WorkflowOptions } from '@platform/sdk';
import { type AppGateway, openAppGateway } from '../support/app-gateway.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';
import { until } from '../support/wait.ts';

let world: Constellation;
let gateway: AppGateway;
let client: PlatformServicesClient;
let now = Date.parse('2026-11-21T10:00:00.000Z');
let key = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(now) });
  const account = await registerAccount(world, 'merchant');
  gateway = await openAppGateway(world, await installTestApp(world, account, 'shop', []));
  client = gateway.client;
});
after(async () => {
  await gateway?.close();
  await world?.close();
});
beforeEach(() => {
  key += 1;
});

const options = <Input>(input: Input, more: Partial<WorkflowOptions<Input>> = {}): WorkflowOptions<Input> => ({
  definition: 'order',
  version: 1,
  idempotencyKey: `order-${key}`,
  durationSeconds: 3_600,
  input,
  ...more,
});

/** The effects that executors had, as something outside would count them. */
let effects: string[] = [];
beforeEach(() => {
  effects = [];
});

async function order(flow: Flow, { cents }: { cents: number }) {
  const reserved = await flow.activity('reserve', 'reserve', { cents }, (_input, { idempotencyKey }) => {
    effects.push(`reserve ${idempotencyKey}`);
    return { seat: 7 };
  });
  const paid = await flow.activity('pay', 'charge', { cents, seat: reserved.seat }, async (input) => {
    effects.push(`pay ${input.cents}`);
    return { receipt: `r-${input.seat}` };
  });
  return { ...reserved, ...paid };
}

test('a run executes its steps, and gives its result ever after', async () => {
  const result = await client.runWorkflow(options({ cents: 5 }), order);
  assert.deepEqual(result, { seat: 7, receipt: 'r-7' });
  assert.equal(effects.length, 2);
  const never = () => assert.fail('a completed run is not executed');
  assert.deepEqual(await client.runWorkflow(options({ cents: 5 }), never), result);
  const [run] = (await client.workflows.list({ definition: 'order', status: 'completed', limit: 1 })).items;
  assert.ok(run !== undefined);
  assert.deepEqual((await client.workflows.get(run.id)).result, result);
  const { items } = await client.workflows.history(run.id);
  assert.deepEqual(
    items.map(({ event }) => event),
    ['created', 'activity-claimed', 'activity-completed', 'activity-claimed', 'activity-completed', 'completed'],
  );
  await assert.rejects(client.runWorkflow(options({ cents: 6 }), never), { code: 'workflow_conflict' });
});

test('after a crash, running it again goes on: completed steps are not executed again', async () => {
  const crash = new AbortController();
  const first = client.runWorkflow(options({ cents: 5 }, { signal: crash.signal }), async (flow, input) => {
    await order(flow, input);
    // As if the process had died here, before the run could end.
    crash.abort(new Error('the process died'));
    return 'lost';
  });
  await assert.rejects(first, { message: 'the process died' });
  assert.deepEqual(await client.runWorkflow(options({ cents: 5 }), order), { seat: 7, receipt: 'r-7' });
  assert.equal(effects.length, 2);
});

test('a result is what the next execution will see', async () => {
  const seen: unknown[] = [];
  const run = () =>
    client.runWorkflow(options(null), async (flow) => {
      seen.push(await flow.activity('date', 'now', undefined, () => ({ at: new Date(0), none: undefined })));
      seen.push(await flow.activity('nothing', 'nothing', undefined, () => undefined));
      throw new Error('again');
    });
  await assert.rejects(run(), { message: 'again' });
  assert.deepEqual(seen, [{ at: '1970-01-01T00:00:00.000Z' }, null]);
});

test('activities run in parallel', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `step-${index}`);
  let open = 0;
  let most = 0;
  const result = await client.runWorkflow(options(names), (flow, input) =>
    Promise.all(
      input.map((name) =>
        flow.activity(name, 'parallel', name, async (text) => {
          open += 1;
          most = Math.max(most, open);
          await until('several at once', () => most > 3);
          open -= 1;
          return text.toUpperCase();
        }),
      ),
    ),
  );
  assert.deepEqual(
    result,
    names.map((name) => name.toUpperCase()),
  );
});

test('two processes that run the same run share its steps', async () => {
  const run = () => client.runWorkflow(options({ cents: 1 }), order);
  const [one, other] = await Promise.all([run(), run()]);
  assert.deepEqual(one, other);
  assert.equal(effects.length, 2);
});

test('what the function throws ends the run', async () => {
  const fail = () =>
    client.runWorkflow(options(null), async (flow) => {
      await flow.activity('pay', 'charge', null, () => {
        throw Object.assign(new Error('The card was declined.'), { code: 'declined' });
      });
    });
  await assert.rejects(fail(), { code: 'declined', message: 'The card was declined.' });
  await assert.rejects(fail(), (error) => {
    assert.ok(error instanceof PlatformError);
    assert.deepEqual([error.code, error.message], ['workflow_failed', 'The card was declined.']);
    assert.deepEqual(error.cause, { code: 'declined', message: 'The card was declined.' });
    return true;
  });
});

test('an activity is tried again as its policy says', async () => {
  const attempts: number[] = [];
  const run = (nonRetryable: string[]) =>
    client.runWorkflow(options(null, { idempotencyKey: `retry-${key}-${nonRetryable.length}` }), (flow) =>
      flow.activity(
        'flaky',
        'flaky',
        null,
        (_input, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw Object.assign(new Error('busy'), { code: 'busy' });
          return attempt;
        },
        { retry: { attempts: 3, backoffMilliseconds: 1, nonRetryable } },
      ),
    );
  assert.equal(await run([]), 3);
  assert.deepEqual(attempts, [1, 2, 3]);
  await assert.rejects(run(['busy']), { code: 'busy' });
  assert.deepEqual(attempts, [1, 2, 3, 1]);
});

test('a mistake of the replay names the step, and leaves the run to be run again by the mended function', async () => {
  const stop = new AbortController();
  const steps = (input: number, signal?: AbortSignal) =>
    client.runWorkflow(options(null, signal === undefined ? {} : { signal }), async (flow) => {
      const result = await flow.activity('pay', 'charge', input, () => input);
      if (signal !== undefined) stop.abort();
      return result;
    });
  await assert.rejects(steps(1, stop.signal), { name: 'AbortError' });
  await assert.rejects(steps(2), (error) => {
    assert.ok(error instanceof PlatformError);
    assert.equal(error.code, 'activity_conflict');
    assert.match(error.message, /Step "pay"/);
    return true;
  });
  assert.equal(await steps(1), 1);
});

test('a result that is too large fails the activity, not the platform', async () => {
  const tooLarge = client.runWorkflow(options(null), (flow) =>
    flow.activity('big', 'big', null, () => 'x'.repeat(32_768)),
  );
  await assert.rejects(tooLarge, { code: 'workflow_result_too_large' });
  await assert.rejects(
    client.runWorkflow(options(null), () => 1),
    { code: 'workflow_failed' },
  );
});

test('a cancelled run is not executed', async () => {
  let entered = () => {};
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const running = client.runWorkflow(options(null), (flow) =>
    flow.activity('wait', 'wait', null, async () => {
      entered();
      await client.workflows.cancel(flow.id);
      return 1;
    }),
  );
  await inside;
  await assert.rejects(running, { code: 'workflow_not_running' });
  await assert.rejects(
    client.runWorkflow(options(null), () => 1),
    { code: 'workflow_not_running' },
  );
});

test('a step whose lease was lost is done by whoever has it, and everybody gets that result', async () => {
  let entered = () => {};
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run = (executor: () => Promise<string>) =>
    client.runWorkflow(options(null), (flow) => flow.activity('slow', 'slow', null, executor));
  const first = run(async () => {
    entered();
    await released;
    return 'first';
  });
  await inside;
  now += 60_000;
  assert.equal(await run(async () => 'second'), 'second');
  release();
  assert.equal(await first, 'second', 'the late one is fenced');
});

test('what is still running is run again at the start', async () => {
  const definition = `resumed-${key}`;
  const crash = new AbortController();
  const start = (name: string) =>
    client.runWorkflow(options({ name }, { definition, idempotencyKey: name, signal: crash.signal }), (flow, input) =>
      flow.activity('only', 'only', input, () => {
        if (input.name === 'a') crash.abort(new Error('died'));
        return input.name;
      }),
    );
  await assert.rejects(start('a'), { message: 'died' });
  await assert.rejects(start('b'), { message: 'died' });
  assert.equal((await client.workflows.list({ definition, status: 'running' })).items.length, 1);
  const run = async (flow: Flow, { name }: { name: string }) => {
    if (name === 'a') return flow.activity('only', 'only', { name }, () => assert.fail('it was completed'));
    throw new Error('unexpected');
  };
  assert.deepEqual(await client.resumeWorkflows([{ definition, version: 2, run }]), []);
  const [resumed, ...others] = await client.resumeWorkflows([{ definition, version: 1, run }]);
  assert.deepEqual(others, []);
  assert.deepEqual([resumed?.idempotencyKey, resumed?.outcome], ['a', { result: 'a' }]);
  assert.deepEqual(await client.resumeWorkflows([{ definition, version: 1, run }]), []);
});

test('at the start no run waits for another one', async () => {
  const definition = `waiting-${key}`;
  const died = AbortSignal.abort(new Error('died'));
  const names = Array.from({ length: 40 }, (_, index) => `run-${index}`);
  for (const name of names) {
    const crash = new AbortController();
    const started = client.runWorkflow(
      options(null, { definition, idempotencyKey: name, signal: crash.signal }),
      (flow) => {
        crash.abort(died.reason);
        flow.signal.throwIfAborted();
      },
    );
    await assert.rejects(started, { message: 'died' });
  }
  let here = 0;
  const all = Promise.withResolvers<void>();
  const run = async () => {
    here += 1;
    if (here === names.length) all.resolve();
    await all.promise;
  };
  const resumed = await client.resumeWorkflows([{ definition, version: 1, run }]);
  assert.equal(resumed.filter(({ outcome }) => 'result' in outcome).length, names.length);
});
