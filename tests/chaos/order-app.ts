// The process of an app that runs many workflows of several activities, in a row and at the same time. Reads their keys
// from standard input, a line each, and writes how they ended.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { type Flow, PlatformError, PlatformServicesClient } from '@platform/sdk';
import type { Ended } from './workflow-moments.ts';

const { SINK_URL: sink = '' } = process.env;
/** An effect takes up to twice so long. */
const PAUSE_MILLISECONDS = 100;
const client = PlatformServicesClient.fromEnv();

async function effect(flow: Flow, step: string): Promise<string> {
  return await flow.activity(step, 'effect', { step }, async (input, { idempotencyKey, attempt }) => {
    await delay(Math.random() * PAUSE_MILLISECONDS);
    const body = JSON.stringify({ runId: flow.id, idempotencyKey, attempt, ...input });
    const answer = await fetch(`${sink}/effect`, { method: 'POST', body });
    await delay(Math.random() * PAUSE_MILLISECONDS);
    return ((await answer.json()) as { receipt: string }).receipt;
  });
}

async function order(flow: Flow): Promise<string[]> {
  const reserved = await effect(flow, 'reserve');
  const parallel = await Promise.all(['pay', 'mail'].map((step) => effect(flow, step)));
  return [reserved, ...parallel, await effect(flow, 'ship')];
}

async function run(key: string): Promise<void> {
  const options = { definition: 'order', version: 1, idempotencyKey: key, durationSeconds: 86_400 };
  const ended: Ended = await client.runWorkflow(options, order).then(
    (result) => ({ key, result }),
    (error) => ({ key, error: error instanceof PlatformError ? error.code : String(error) }),
  );
  process.stdout.write(`${JSON.stringify(ended)}\n`);
}

createInterface({ input: process.stdin })
  .on('line', (line) => void run(JSON.parse(line) as string))
  .once('close', () => process.exit(0));
