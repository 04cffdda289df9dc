// The keys of services, with workloads and their Gateways below the node.
import { processTree } from '../../bench/platform/process-memory.ts';
import { environmentTexts } from '../support/sweep.ts';
import { keysOfServices } from './canary-suite.ts';

keysOfServices({
  open: async () => ({ PLATFORM_RUNTIME_DRIVER: 'process' }),
  processes: async ({ pid }) => processTree(pid),
  workloads: async ({ pid }) =>
    processTree(pid).filter((one) => environmentTexts([one])[`cmdline of process ${one}`]?.includes('/app/main.mjs')),
  texts: async () => ({}),
  close: async () => undefined,
});
