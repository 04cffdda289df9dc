// The part of `platform doctor` for the memory of the machine.

import { freemem, totalmem } from 'node:os';
import { GiB, MiB, sizeText } from '@platform/contract/sizes';
import type { PlatformConfig } from '@platform/core/config';
import type { Finding } from './finding.ts';

/** The whole platform with an account, idle: docs/performance.md. Below that it swaps before the first app runs. */
const PLATFORM_BYTES = 300 * MiB;
/** For the platform and some backends at a time. */
const COMFORTABLE_BYTES = GiB;

/** @param memory bytes. Default: those of this machine, or of the control group that this process is limited to */
export async function memoryFindings(
  { nodeMemoryMiB }: Pick<PlatformConfig, 'nodeMemoryMiB'>,
  memory: { readonly total: number; readonly free: number } = machineMemory(),
): Promise<Finding[]> {
  const check = 'memory';
  const { total, free } = memory;
  const found = `${sizeText(free)} of ${sizeText(total)} available`;
  if (total < PLATFORM_BYTES)
    return [{ check, verdict: 'bad', found, cure: `The platform alone needs ${sizeText(PLATFORM_BYTES)}.` }];
  if (nodeMemoryMiB !== null && nodeMemoryMiB * MiB > total)
    return [
      {
        check,
        verdict: 'bad',
        found: `PLATFORM_NODE_MEMORY_MIB promises apps ${sizeText(nodeMemoryMiB * MiB)}, and there are ${sizeText(total)}`,
        cure: 'Set it to what apps may use together, or leave it out for 80 % of the memory.',
      },
    ];
  if (free < PLATFORM_BYTES || total < COMFORTABLE_BYTES)
    return [
      {
        check,
        verdict: 'warning',
        found,
        cure: `The platform needs ${sizeText(PLATFORM_BYTES)}, plus what backends use.`,
      },
    ];
  return [{ check, verdict: 'good', found }];
}

function machineMemory() {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { total, free: Math.min(total, process.availableMemory?.() ?? freemem()) };
}
