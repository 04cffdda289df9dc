// The same three steps with DBOS Transact: its workflows and their steps are rows that this process writes itself. It
// exports no telemetry and has no key of a service of its makers.
import { createRequire } from 'node:module';
import { type RunsOrder, serveOrders, timed } from './programs.ts';

interface Dbos {
  setConfig(config: object): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow<Input, Result>(
    run: (input: Input) => Promise<Result>,
    options: { readonly name: string },
  ): (input: Input) => Promise<Result>;
  runStep<Result>(step: () => Promise<Result>, options: { readonly name: string }): Promise<Result>;
  startWorkflow<Input, Result>(
    workflow: (input: Input) => Promise<Result>,
    options: { readonly workflowID: string },
  ): (input: Input) => Promise<{ getResult(): Promise<Result> }>;
}

const [folder = '', systemDatabaseUrl = ''] = process.argv.slice(2);
const { DBOS } = createRequire(folder)('@dbos-inc/dbos-sdk') as { DBOS: Dbos };
DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', enableOTLP: false, tracingEnabled: false });

const order = DBOS.registerWorkflow(
  async ({ cents }: { cents: number }) => {
    const { seat } = await DBOS.runStep(async () => ({ seat: cents > 0 ? 7 : 0 }), { name: 'reserve' });
    const { receipt } = await DBOS.runStep(async () => ({ receipt: `r-${seat}` }), { name: 'pay' });
    return DBOS.runStep(async () => ({ mailed: receipt !== '' }), { name: 'mail' });
  },
  { name: 'order' },
);
await DBOS.launch();
let keys = 0;

async function run(): Promise<void> {
  keys += 1;
  const handle = await DBOS.startWorkflow(order, { workflowID: `order-${process.pid}-${keys}` })({ cents: 990 });
  await handle.getResult();
}

await serveOrders<RunsOrder, number>((runs) => timed(runs, run));
await DBOS.shutdown();
