// The program in front of a workload with `runtime.network-tunnel`. It makes a user namespace and a network that belongs
// to it, waits until the Runtime has put the container's interfaces there, keeps CAP_NET_ADMIN and nothing else in that
// namespace, and becomes the workload. Over everything outside it has no capability: see docs/decisions/docker-tunnel.md.
import { seccompFilter } from '../../process/seccomp.ts';
import { executable, type Step } from './machine-code.ts';

/** CLONE_NEWUSER and CLONE_NEWNET: what the container's filter lets this program unshare, and no other combination. */
export const UNSHARED = 0x50000000;

const NET_ADMIN = 12;
const UNIX_STREAM = [1, 0x80001] as const;
const CAPABILITY_VERSION = 0x20080522;
const PR = { dropBound: 24, noNewPrivileges: 38, filter: 22, ambient: 47 } as const;
const FILTER_MODE = 2;
const RAISE = 2;

/** In the order in which they are done, so that the exit code names one. */
const STEPS = ['namespaces', 'socket', 'connect', 'wait', 'close'] as const;

export interface EnterOptions {
  /** Socket of the Runtime inside the container: it is connected to once the network is there, and sends one byte. */
  readonly socketPath: string;
  /** Of this kernel: `/proc/sys/kernel/cap_last_cap`. */
  readonly lastCapability: number;
  readonly processor?: string;
}

/** Undefined on a processor for which there is none. */
export function enterProgram({ socketPath, lastCapability, processor }: EnterOptions): Buffer | undefined {
  const filter = seccompFilter(processor);
  if (filter === undefined) return undefined;
  const address = Buffer.from(`\x01\0${socketPath}\0`, 'latin1');
  const others = Array.from({ length: lastCapability + 1 }, (_, number) => number).filter((one) => one !== NET_ADMIN);
  const steps: Step[] = [
    { call: 'unshare', args: [UNSHARED] },
    { call: 'socket', args: [...UNIX_STREAM, 0], keep: true },
    { call: 'connect', args: ['kept', { data: 'address' }, address.length] },
    { call: 'read', args: ['kept', 'scratch', 1], expect: 1 },
    { call: 'close', args: ['kept'] },
    ...others.map((one): Step => ({ call: 'prctl', args: [PR.dropBound, one, 0, 0, 0] })),
    { call: 'capset', args: [{ data: 'version' }, { data: 'capabilities' }] },
    { call: 'prctl', args: [PR.ambient, RAISE, NET_ADMIN, 0, 0] },
    { call: 'prctl', args: [PR.noNewPrivileges, 1, 0, 0, 0] },
    { call: 'prctl', args: [PR.filter, FILTER_MODE, { data: 'program' }, 0, 0] },
  ];
  return executable(
    {
      steps,
      data: (addressOf) => ({
        address,
        version: words(CAPABILITY_VERSION, 0),
        // Effective, permitted and inheritable, for the first 32 and the others.
        capabilities: words(1 << NET_ADMIN, 1 << NET_ADMIN, 1 << NET_ADMIN, 0, 0, 0),
        filter,
        program: words(filter.length / 8, 0, addressOf('filter'), 0),
      }),
    },
    processor,
  );
}

/** What a container that ended with this code could not do, for the operator's log. */
export function failedStep(code: number): string {
  return STEPS[code - 1] ?? (code > STEPS.length ? 'privileges' : 'unknown');
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}
