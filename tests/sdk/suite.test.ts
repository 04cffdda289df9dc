// The suite of the SDK, from its sources, in this process.
import { after, before, test } from 'node:test';
import { type SuiteWorld, startSuiteWorld } from '../support/sdk-suite.ts';
import { allCases } from './suite/run.ts';
import type { SuiteTools } from './suite/tools.ts';

let world: SuiteWorld;
let tools: SuiteTools;
before(async () => {
  world = await startSuiteWorld();
  tools = { ...(await world.open()), advance: async (milliseconds) => world.advance(milliseconds) };
});
after(() => world?.close());

for (const [promise, run] of Object.entries(allCases())) test(promise, () => run(tools));
