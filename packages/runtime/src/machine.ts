// This machine's resources, which it reports to core when it registers, and its current load.
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { type MachineGift, type MachineLoad, MiB, type NodeMachine, processorKinds } from '@platform/contract';
import type { DriverReport } from './drivers/driver.ts';
import { RUNTIME_VERSION } from './version.ts';

/** The rest is for the platform itself and for the system. */
const SHARE_OF_WORKLOADS = 0.8;

export function describeMachine(
  report: DriverReport,
  more: {
    readonly memoryMiB: number | undefined;
    /** Whether it has the worker of agents, which is a script. */
    readonly agents: boolean;
    readonly diskMiB: number;
    readonly sharedStore: string | undefined;
    readonly gives: readonly MachineGift[];
  },
): NodeMachine {
  const processor = processorKinds.find((kind) => kind === process.arch);
  const runtimes = report.runtimes ?? ['node'];
  return {
    memoryMiB: more.memoryMiB ?? Math.max(1, Math.floor((machineMemory() / MiB) * SHARE_OF_WORKLOADS)),
    cpus: availableParallelism(),
    diskMiB: more.diskMiB,
    driver: report.driver,
    mechanism: report.mechanism.slice(0, 200),
    runtimes: [...runtimes, ...(more.agents && runtimes.includes('node') ? (['agent'] as const) : [])],
    ...(processor === undefined ? {} : { processor }),
    version: RUNTIME_VERSION,
    gives: [...more.gives],
    ...(more.sharedStore === undefined ? {} : { sharedStore: more.sharedStore }),
  };
}

/** Of everything that runs here, the platform itself included. */
export function machineLoad(): MachineLoad {
  const [lastMinute = 0] = loadavg();
  const used = Math.max(0, machineMemory() - process.availableMemory());
  return { cpus: Math.round(lastMinute * 100) / 100, memoryUsedMiB: Math.round(used / MiB) };
}

/** Of the machine, or of the container that this process is limited to. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
