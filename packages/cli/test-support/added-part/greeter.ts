// A part that no platform has, for tests/system/added-part.test.ts: what adding one takes. It greets at a port, writes down
// which parts run when it starts and ends, and hangs when it is asked to.
import type { ProgramPart } from '../../src/supervisor/part.ts';
import { core, coreAddress } from '../../src/supervisor/parts/core.ts';

export interface GreeterOrder {
  readonly port: number;
  /** The ports of core and of the node. */
  readonly others: { readonly core: number; readonly node: number };
  /** Gets a line of JSON for each start and end. */
  readonly journal: string;
  readonly coreOrigin: string;
  readonly withMetrics: boolean;
}

export interface GreeterReport {
  readonly greets: string;
}

const port = Number(process.env.GREETER_PORT);

export const greeter: ProgramPart<'Greeter', GreeterReport, GreeterOrder> = {
  name: 'Greeter',
  program: new URL('./greeter-process.ts', import.meta.url),
  isConfigured: () => process.env.GREETER_PORT !== undefined,
  needs: [core],
  // Six of these are soon over, and no machine keeps a part from answering for as long.
  pingEvery: 1_000,
  order: async (platform) => ({
    port,
    others: { core: platform.reportOf(core)?.port ?? 0, node: platform.config.nodePort },
    journal: process.env.GREETER_JOURNAL ?? '',
    coreOrigin: coreAddress(platform).coreOrigin,
    withMetrics: platform.config.metricsListen !== null,
  }),
  listeners: () => [{ variable: 'GREETER_PORT', host: '127.0.0.1', port, what: 'greetings' }],
  greeting: ({ report }) => ({ facts: [{ label: 'Greets', value: report?.greets ?? 'nobody' }] }),
};
