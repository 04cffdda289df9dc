// The size of a machine for the resources in a manifest, and the command line of its kernel.

import { readFileSync } from 'node:fs';
import type { WorkloadManifest } from '@platform/contract';
import { MiB } from '@platform/contract/sizes';
import type { Resources } from '../process/cgroup.ts';
import { nodeOptions, temporaryBytes } from '../process/mechanism.ts';
import type { Entry } from '../require-entry.ts';
import type { GuestLimits, Machine } from './places.ts';

export type Acceleration = 'kvm' | 'tcg';

/** What the guest's kernel, init and page tables take, measured with Debian's 6.1 kernel. */
const GUEST_KERNEL_MIB = 96;
/** The monitor itself, what emulation keeps of translated code, and the keeper. */
const MONITOR_MIB = 352;
/** Threads of the monitor and of the keeper. */
const MONITOR_TASKS = 64;
/** Firecracker's limit. */
const MOST_PROCESSORS = 32;

type Requested = WorkloadManifest['resources'];

/** What the host's control group allows the enclosure: the guest's memory with what running it costs. */
export function enclosureResources(requested: Requested): Resources {
  return { memoryMiB: guestMemoryMiB(requested) + MONITOR_MIB, cpus: requested.cpus, pids: MONITOR_TASKS };
}

export function guestMemoryMiB({ memoryMiB }: Requested): number {
  return memoryMiB + GUEST_KERNEL_MIB;
}

export function planMachine(
  manifest: WorkloadManifest,
  how: Pick<Machine, 'monitor' | 'program' | 'acceleration'>,
): Machine {
  return {
    ...how,
    processors: Math.min(MOST_PROCESSORS, Math.max(1, Math.ceil(manifest.resources.cpus))),
    memoryMiB: guestMemoryMiB(manifest.resources),
    kernelArguments: kernelArguments(how.acceleration),
    volume: manifest.volume,
  };
}

export function planGuest(entry: Entry, { memoryMiB, pids }: Requested): GuestLimits {
  return {
    entry,
    memoryBytes: memoryMiB * MiB,
    pids,
    nodeOptions: nodeOptions(entry.runtime, memoryMiB),
    temporaryBytes: temporaryBytes(memoryMiB),
  };
}

function kernelArguments(acceleration: Acceleration): string[] {
  return [
    'console=ttyS0',
    'quiet',
    'panic=-1',
    'reboot=t',
    'ipv6.disable=1',
    'cgroup_no_v1=all',
    '8250.nr_uarts=1',
    'edd=off',
    'cryptomgr.notests',
    'i8042.noaux',
    'i8042.nomux',
    'i8042.dumbkbd',
    // Emulated processors leak nothing through speculation, and the guest measures its clock against a timer whose
    // ticks come late on a busy host: it would hang. For the same reason it would not trust that counter after a while
    // and tick for ever, which costs the host and lets its clock fall behind. KVM's guests have a clock of their own.
    ...(acceleration === 'tcg'
      ? ['mitigations=off', 'init_on_alloc=0', 'tsc=reliable', `tsc_early_khz=${hostTicksPerMillisecond()}`]
      : []),
  ];
}

/** The rate of the host's time stamp counter, which emulated processors show unchanged. */
function hostTicksPerMillisecond(): number {
  const exact =
    read('/sys/devices/system/cpu/cpu0/tsc_freq_khz') ?? read('/sys/devices/system/cpu/cpu0/cpufreq/base_frequency');
  if (exact !== undefined) return Math.round(Number(exact));
  const megahertz = /^cpu MHz\s*:\s*([\d.]+)$/m.exec(read('/proc/cpuinfo') ?? '')?.[1];
  return Math.round(Number(megahertz ?? 2_000) * 1_000);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return undefined; // not available in this kernel
  }
}
