// The process of an app that runs workflows with the SDK. Reads which ones from standard input, a line each, and writes
// how they ended. Before and after every call of a service, and around every effect, it asks the test whether to go on.
import { createInterface } from 'node:readline';
import { type Flow, PlatformError, PlatformServicesClient } from '@platform/sdk';
import { callOf, type Ended, type Order } from './workflow-moments.ts';

const { SINK_URL: sink = '' } = process.env;
const client = PlatformServicesClient.fromEnv();
const plainFetch = globalThis.fetch;
const plainTimeout = globalThis.setTimeout;

/** After which the SDK renews a lease; here it does so at once. */
const RENEW_MILLISECONDS = 20_000;
const SOON_MILLISECONDS = 100;
globalThis.setTimeout = ((action: () => void, milliseconds?: number, ...more: []) =>
  plainTimeout(
    action,
    milliseconds === RENEW_MILLISECONDS ? SOON_MILLISECONDS : milliseconds,
    ...more,
  )) as typeof globalThis.setTimeout;

async function tell<Answer>(path: string, body: unknown): Promise<Answer> {
  const answer = await plainFetch(sink + path, { method: 'POST', body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

const at = (moment: string) => tell('/at', { moment });

let renewals = 0;
globalThis.fetch = async (input, init) => {
  const call = callOf(init?.method ?? 'GET', new URL(String(input)).pathname);
  if (call === null) return plainFetch(input, init);
  await at(`${call} sent`);
  const response = await plainFetch(input, init);
  await at(`${call} received`);
  if (call === 'renew' && response.ok) renewals += 1;
  return response;
};

/** Has its effect in the sink, which counts it by the idempotency key. */
async function effect(flow: Flow, step: string): Promise<string> {
  return await flow.activity(step, 'effect', { step }, async (input, { idempotencyKey, attempt }) => {
    await at('effect begins');
    const { receipt } = await tell<{ receipt: string }>('/effect', {
      runId: flow.id,
      idempotencyKey,
      attempt,
      ...input,
    });
    await at('effect ended');
    return receipt;
  });
}

const functions: Record<Order['kind'], (flow: Flow) => Promise<unknown>> = {
  async order(flow) {
    const reserved = await effect(flow, 'reserve');
    const [paid, mailed] = await Promise.all([effect(flow, 'pay'), effect(flow, 'mail')]);
    return [reserved, paid, mailed];
  },
  /** With an activity that lasts until its lease was renewed. */
  async slow(flow) {
    const reserved = await effect(flow, 'reserve');
    const before = renewals;
    await flow.activity('wait', 'wait', null, async () => {
      while (renewals === before) await new Promise((resolve) => plainTimeout(resolve, 10));
    });
    return [reserved, await effect(flow, 'pay')];
  },
  /** Somebody cancels it while an activity runs, until it is cancelled. */
  async cancelled(flow) {
    await effect(flow, 'reserve');
    await flow.activity('wait', 'wait', null, async (_input, { signal }) => {
      await cancel(flow.id);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      });
    });
  },
};

/** Repeats it while the run is running; of one that was cancelled it would remove everything. */
async function cancel(id: string): Promise<void> {
  for (let status: string | null = 'running'; status !== 'cancelled'; ) {
    if (status === 'running') await client.workflows.cancel(id).catch(() => undefined);
    else await new Promise((resolve) => plainTimeout(resolve, 50));
    status = await client.workflows.get(id).then(
      (found) => found.status,
      () => null,
    );
  }
}

async function run({ kind, key }: Order): Promise<void> {
  const options = { definition: kind, version: 1, idempotencyKey: key, durationSeconds: 3_600 };
  const ended: Ended = await client.runWorkflow(options, functions[kind]).then(
    (result) => ({ key, result: result as string[] }),
    (error) => ({ key, error: error instanceof PlatformError ? error.code : String(error) }),
  );
  process.stdout.write(`${JSON.stringify(ended)}\n`);
}

createInterface({ input: process.stdin })
  .on('line', (line) => void run(JSON.parse(line) as Order))
  .once('close', () => process.exit(0));
process.stdout.write('{}\n');
