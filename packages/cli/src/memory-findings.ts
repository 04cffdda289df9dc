// The part of `platform doctor` for the memory of the machine.
import { freemem, totalmem } from 'node:os';
import type { PlatformConfig } from '@platform/core/config';
import type { Finding } from './finding.ts';

const MiB = 1024 * 1024;
/** The whole platform with an account, idle: docs/performance.md. Below that it swaps before the first app runs. */
const PLATFORM_MIB = 300;
/** For the platform and some backends at a time. */
const COMFORTABLE_MIB = 1_024;

/** @param memory bytes. Default: those of this machine, or of the control group that this process is limited to */
export async function memoryFindings(
  { nodeMemoryMiB }: Pick<PlatformConfig, 'nodeMemoryMiB'>,
  memory: { readonly total: number; readonly free: number } = machineMemory(),
): Promise<Finding[]> {
  const check = 'memory';
  const [total, free] = [memory.total, memory.free].map((bytes) => Math.floor(bytes / MiB)) as [number, number];
  const found = `${shown(free)} of ${shown(total)} available`;
  if (total < PLATFORM_MIB)
    return [{ check, verdict: 'bad', found, cure: `The platform alone needs ${PLATFORM_MIB} MiB.` }];
  if (nodeMemoryMiB !== null && nodeMemoryMiB > total)
    return [
      {
        check,
        verdict: 'bad',
        found: `PLATFORM_NODE_MEMORY_MIB promises apps ${shown(nodeMemoryMiB)}, and there are ${shown(total)}`,
        cure: 'Set it to what apps may use together, or leave it out for 80 % of the memory.',
      },
    ];
  if (free < PLATFORM_MIB || total < COMFORTABLE_MIB)
    return [
      { check, verdict: 'warning', found, cure: `The platform needs ${PLATFORM_MIB} MiB, and backends their own.` },
    ];
  return [{ check, verdict: 'good', found }];
}

function machineMemory() {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { total, free: Math.min(total, process.availableMemory?.() ?? freemem()) };
}

function shown(mebibytes: number): string {
  return mebibytes < 1_024 ? `${mebibytes} MiB` : `${(mebibytes / 1_024).toFixed(1)} GiB`;
}
