// The system call filter of containers, in the engine's format. It replaces the engine's default profile:
// everything that the default refuses to a container without capabilities, and what this platform refuses besides
// (ptrace, io_uring, other families of sockets).
import { newNamespaceFlags, refusedCalls, refusedRequests, socketFamilies } from '../system-calls.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' };

/** Of the engine's default profile; harmless elsewhere, but a container shares the memory nodes of all others. */
const OF_THE_DEFAULT = ['get_mempolicy', 'set_mempolicy', 'mbind', 'set_mempolicy_home_node', 'personality'];

interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: string;
}

export interface ProfileOptions {
  /** The only flags with which unshare(2) is not refused. Default: it is always refused. */
  readonly unshared?: number;
  readonly processor?: string;
}

/** The profile as JSON, or undefined on a processor it is not made for: then the engine's default holds. */
export function seccompProfile({ unshared, processor = process.arch }: ProfileOptions = {}): string | undefined {
  const architecture = ARCHITECTURES[processor];
  if (architecture === undefined) return undefined;
  const names = refusedCalls.map(({ name }) => name);
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: [architecture],
    syscalls: [
      refuse([...names.filter((name) => name !== 'unshare' || unshared === undefined), ...OF_THE_DEFAULT], EPERM),
      ...(unshared === undefined ? [] : [refuse(['unshare'], EPERM, { index: 0, value: unshared, op: 'SCMP_CMP_NE' })]),
      // Its flags lie in memory where a filter cannot look; programs fall back to clone.
      refuse(['clone3'], ENOSYS),
      ...bitsOf(newNamespaceFlags).map((bit) =>
        refuse(['clone'], EPERM, { index: 0, value: bit, valueTwo: bit, op: 'SCMP_CMP_MASKED_EQ' }),
      ),
      ...refusedRequests.map((request) =>
        refuse(['ioctl'], EPERM, { index: 1, value: 0xffffffff, valueTwo: request, op: 'SCMP_CMP_MASKED_EQ' }),
      ),
      ...otherFamilies().map((condition) => refuse(['socket'], EAFNOSUPPORT, condition)),
    ],
  });
}

function refuse(names: readonly string[], errnoRet: number, ...args: readonly Condition[]): object {
  return { names, action: 'SCMP_ACT_ERRNO', errnoRet, args };
}

function bitsOf(flags: number): number[] {
  return Array.from({ length: 31 }, (_, index) => 2 ** index).filter((bit) => (flags & bit) !== 0);
}

/** Every family of sockets but those allowed: one by one, and all above the last. */
function otherFamilies(): Condition[] {
  const last = Math.max(...socketFamilies);
  const below = Array.from({ length: last }, (_, family) => family).filter(
    (family) => !socketFamilies.some((allowed) => allowed === family),
  );
  return [
    ...below.map((value) => ({ index: 0, value, op: 'SCMP_CMP_EQ' })),
    { index: 0, value: last, op: 'SCMP_CMP_GT' },
  ];
}
