// An app that runs workflows with the SDK, in the environment of a workload.
import { PlatformServicesClient } from '@platform/sdk';
import { type RunsOrder, serveOrders, timed } from './programs.ts';

const client = PlatformServicesClient.fromEnv();
let keys = 0;

async function order(): Promise<void> {
  keys += 1;
  const options = { definition: 'order', version: 1, idempotencyKey: `order-${process.pid}-${keys}` };
  await client.runWorkflow({ ...options, durationSeconds: 3_600, input: { cents: 990 } }, async (flow, { cents }) => {
    const { seat } = await flow.activity('reserve', 'reserve', { cents }, () => ({ seat: 7 }));
    const { receipt } = await flow.activity('pay', 'charge', { cents, seat }, () => ({ receipt: 'r-7' }));
    return flow.activity('mail', 'mail', { receipt }, () => ({ mailed: true }));
  });
}

await serveOrders<RunsOrder, number>((runs) => timed(runs, order));
