// Workflows as an app runs them: to their end, in parallel, after crashes, against other processes and its own mistakes.
import { type Flow, PlatformError, type WorkflowOptions } from '@platform/sdk';
import { equal, fails, failureOf, point } from './checks.ts';
import { holdTimers } from './held-timers.ts';
import type { Cases } from './tools.ts';

const RENEWAL_MILLISECONDS = 20_000;
const LEASE_MILLISECONDS = 60_000;

function optionsOf<Input>(
  key: string,
  input: Input,
  more: Partial<WorkflowOptions<Input>> = {},
): WorkflowOptions<Input> {
  return { definition: 'order', version: 1, idempotencyKey: key, durationSeconds: 3_600, input, ...more };
}

const never = (): never => {
  throw new Error('it was executed again');
};

/** An order, and the effects that it had as something outside would count them. */
function orders() {
  const effects: string[] = [];
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
  return { effects, order };
}

export const workflowCases: Cases = {
  async 'a run executes its steps, and gives its result ever after'({ client }) {
    const { effects, order } = orders();
    const options = optionsOf('whole', { cents: 5 }, { definition: 'whole' });
    const result = await client.runWorkflow(options, order);
    equal(result, { seat: 7, receipt: 'r-7' });
    equal(effects.length, 2);
    equal(await client.runWorkflow(options, never), result);
    const { items: runs } = await client.workflows.list({ definition: 'whole', status: 'completed' });
    equal(runs.length, 1);
    const id = runs[0]?.id ?? '';
    equal((await client.workflows.get(id)).result, result);
    const { items } = await client.workflows.history(id);
    equal(
      items.map(({ event }) => event),
      ['created', 'activity-claimed', 'activity-completed', 'activity-claimed', 'activity-completed', 'completed'],
    );
    await fails(client.runWorkflow({ ...options, input: { cents: 6 } }, never), { code: 'workflow_conflict' });
    await client.workflows.cancel(id);
    await fails(client.workflows.get(id), { name: 'PlatformError', code: 'not_found', status: 404 });
  },

  async 'after a crash, running it again goes on: completed steps are not executed again'({ client }) {
    const { effects, order } = orders();
    const crash = new AbortController();
    const options = optionsOf('crashed', { cents: 5 });
    const first = client.runWorkflow({ ...options, signal: crash.signal }, async (flow, input) => {
      await order(flow, input);
      // As if the process had died here, before the run could end.
      crash.abort(new Error('the process died'));
      return 'lost';
    });
    await fails(first, { message: 'the process died' });
    equal(await client.runWorkflow(options, order), { seat: 7, receipt: 'r-7' });
    equal(effects.length, 2);
  },

  async 'a result is what the next execution will see'({ client }) {
    const text = 'Zoë 日本語 👍 \u2028 "quoted"';
    const seen = await client.runWorkflow(
      optionsOf('seen', { text, list: [1, null, { a: true }] }),
      async (flow, input) => [
        input,
        await flow.activity('date', 'now', input.text, (given) => ({ at: new Date(0), given, none: undefined })),
        await flow.activity('nothing', 'nothing', undefined, () => undefined),
        await flow.activity('numbers', 'numbers', null, () => [0.1, -0, 1e21, Number.NaN]),
      ],
    );
    equal(seen, [
      { text, list: [1, null, { a: true }] },
      { at: '1970-01-01T00:00:00.000Z', given: text },
      null,
      [0.1, 0, 1e21, null],
    ]);
    equal(await client.runWorkflow(optionsOf('seen', { text, list: [1, null, { a: true }] }), never), seen);
  },

  async 'activities run in parallel'({ client }) {
    const names = Array.from({ length: 20 }, (_, index) => `step-${index}`);
    let open = 0;
    const several = point();
    const result = await client.runWorkflow(optionsOf('parallel', names), (flow, input) =>
      Promise.all(
        input.map((name) =>
          flow.activity(name, 'parallel', name, async (text) => {
            open += 1;
            if (open === 4) several.reach();
            await several.reached;
            return text.toUpperCase();
          }),
        ),
      ),
    );
    equal(
      result,
      names.map((name) => name.toUpperCase()),
    );
  },

  async 'two processes that run the same run share its steps'({ client }) {
    const { effects, order } = orders();
    const run = () => client.runWorkflow(optionsOf('shared', { cents: 1 }), order);
    const [one, other] = await Promise.all([run(), run()]);
    equal(one, other);
    equal(effects.length, 2);
  },

  async 'what the function throws ends the run'({ client }) {
    const fail = () =>
      client.runWorkflow(optionsOf('declined', null), async (flow) => {
        await flow.activity('pay', 'charge', null, () => {
          throw Object.assign(new Error('The card was declined.'), { code: 'declined' });
        });
      });
    await fails(fail(), { name: 'Error', code: 'declined', message: 'The card was declined.' });
    const again = await failureOf(fail());
    equal([again.name, again.code, again.message], ['PlatformError', 'workflow_failed', 'The card was declined.']);
    equal(again.cause, { code: 'declined', message: 'The card was declined.' });
  },

  async 'an activity is tried again as its policy says'({ client }) {
    const attempts: number[] = [];
    const run = (key: string, nonRetryable: string[]) =>
      client.runWorkflow(optionsOf(key, null), (flow) =>
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
    equal(await run('retried', []), 3);
    equal(attempts, [1, 2, 3]);
    await fails(run('not-retried', ['busy']), { code: 'busy' });
    equal(attempts, [1, 2, 3, 1]);
  },

  async 'a mistake of the replay names the step, and leaves the run to the mended function'({ client }) {
    const stop = new AbortController();
    const steps = (name: string, input: number, signal?: AbortSignal) =>
      client.runWorkflow(optionsOf('mistaken', null, signal === undefined ? {} : { signal }), async (flow) => {
        const result = await flow.activity('pay', name, input, () => input);
        if (signal !== undefined) stop.abort();
        return result;
      });
    await fails(steps('charge', 1, stop.signal), { name: 'AbortError' });
    for (const [name, input] of [
      ['charge', 2],
      ['refund', 1],
    ] as const) {
      const failure = await failureOf(steps(name, input));
      equal([failure instanceof PlatformError, failure.code], [true, 'activity_conflict']);
      equal(failure.message.includes('Step "pay"'), true);
    }
    equal(await steps('charge', 1), 1);
  },

  async 'what is too large fails the activity or the call, not the platform'({ client }) {
    const tooLarge = client.runWorkflow(optionsOf('too-large', null), (flow) =>
      flow.activity('big', 'big', null, () => 'x'.repeat(32_768)),
    );
    await fails(tooLarge, { name: 'PlatformError', code: 'workflow_result_too_large', status: 413 });
    await fails(client.runWorkflow(optionsOf('too-large', null), never), { code: 'workflow_failed' });
    const input = client.runWorkflow(optionsOf('too-large-input', 'x'.repeat(32_768)), never);
    await fails(input, { name: 'PlatformError', code: 'workflow_input_too_large', status: 413 });
  },

  async 'a cancelled run is not executed'({ client }) {
    const running = client.runWorkflow(optionsOf('cancelled', null), (flow) =>
      flow.activity('wait', 'wait', null, async () => {
        await client.workflows.cancel(flow.id);
        return 1;
      }),
    );
    await fails(running, { name: 'PlatformError', code: 'workflow_not_running' });
    await fails(client.runWorkflow(optionsOf('cancelled', null), never), { code: 'workflow_not_running' });
  },

  async 'an executor whose lease was lost is told, and everybody gets the result of who has the step'({
    client,
    advance,
  }) {
    const timers = holdTimers();
    try {
      const [entered, taken, told] = [point(), point(), point()];
      let reason: unknown;
      const first = client.runWorkflow(optionsOf('lost', null), (flow) =>
        flow.activity('slow', 'slow', null, async (_input, { signal }) => {
          entered.reach();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          reason = signal.reason;
          return 'first';
        }),
      );
      await entered.reached;
      await advance(LEASE_MILLISECONDS);
      const second = client.runWorkflow(optionsOf('lost', null), async (flow) => {
        const result = await flow.activity('slow', 'slow', null, () => 'second');
        taken.reach();
        await told.reached;
        return result;
      });
      await taken.reached;
      // A workload that has run for two seconds has a work lease, which is renewed as often.
      equal(timers.fire(RENEWAL_MILLISECONDS) >= 1, true);
      equal(await first, 'second');
      told.reach();
      equal(await second, 'second');
      equal([reason instanceof PlatformError, (reason as PlatformError).code], [true, 'lease_lost']);
    } finally {
      timers.restore();
    }
  },

  async 'what is still running is run again at the start'({ client }) {
    const definition = 'resumed';
    const crash = new AbortController();
    const start = (name: string) =>
      client.runWorkflow(optionsOf(name, { name }, { definition, signal: crash.signal }), (flow, input) =>
        flow.activity('only', 'only', input, () => {
          if (input.name === 'a') crash.abort(new Error('died'));
          return input.name;
        }),
      );
    await fails(start('a'), { message: 'died' });
    await fails(start('b'), { message: 'died' });
    equal((await client.workflows.list({ definition, status: 'running' })).items.length, 1);
    const run = (flow: Flow, { name }: { name: string }) => flow.activity('only', 'only', { name }, never);
    equal(await client.resumeWorkflows([{ definition, version: 2, run }]), []);
    const resumed = await client.resumeWorkflows([{ definition, version: 1, run }]);
    equal(
      resumed.map(({ idempotencyKey, outcome }) => [idempotencyKey, outcome]),
      [['a', { result: 'a' }]],
    );
    equal(await client.resumeWorkflows([{ definition, version: 1, run }]), []);
  },

  async 'at the start no run waits for another one'({ client }) {
    const definition = 'waiting';
    const names = Array.from({ length: 40 }, (_, index) => `waiting-${index}`);
    for (const name of names) {
      const crash = new AbortController();
      const begun = client.runWorkflow(optionsOf(name, null, { definition, signal: crash.signal }), () =>
        crash.abort(new Error('died')),
      );
      await fails(begun, { message: 'died' });
    }
    let here = 0;
    const all = point();
    const run = async () => {
      here += 1;
      if (here === names.length) all.reach();
      await all.reached;
    };
    const resumed = await client.resumeWorkflows([{ definition, version: 1, run }]);
    equal(resumed.filter(({ outcome }) => 'result' in outcome).length, names.length);
  },

  async 'a resumed run that fails is told beside the others'({ client }) {
    const definition = 'resumed-badly';
    for (const name of ['good', 'bad']) {
      const died = AbortSignal.abort(new Error('died'));
      const options = optionsOf(name, { name }, { definition });
      await fails(client.runWorkflow({ ...options, signal: died }, never), { message: 'died' });
      const crash = new AbortController();
      const begun = client.runWorkflow({ ...options, signal: crash.signal }, () => crash.abort(new Error('died')));
      await fails(begun, { message: 'died' });
    }
    const run = async (_flow: Flow, { name }: { name: string }) => {
      if (name === 'bad') throw new TypeError('It is bad.');
      return name;
    };
    const outcomes = (await client.resumeWorkflows([{ definition, version: 1, run }])).map(
      ({ idempotencyKey, outcome }) =>
        'error' in outcome ? [idempotencyKey, (outcome.error as Error).message] : [idempotencyKey, outcome.result],
    );
    equal(outcomes.sort(), [
      ['bad', 'It is bad.'],
      ['good', 'good'],
    ]);
  },
};
