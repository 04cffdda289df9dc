// One way out that a hostile workload tries: data, so that adding a way needs no code elsewhere.
import type { Kit } from '../../../packages/runtime/test-support/conformance/subject.ts';
import type { Call, ProgramOutput } from './machine-code.ts';

/** What the attempts are aimed at. Made by targets.ts; goes inside as JSON. */
export interface Targets {
  /** A file of the host that belongs to the workload's own user and that everybody may read and write. */
  readonly secretFile: string;
  readonly secretText: string;
  /** The data folder of the platform. */
  readonly dataFolder: string;
  /** The volume of another installation, by its path on the host. */
  readonly neighbourVolume: string;
  /** A process of the host under the workload's own user. `hostCanary` is in its environment and memory. */
  readonly hostPid: number;
  readonly hostCanary: string;
  /** Address in that process's memory where its name lies. */
  readonly hostAddresses: readonly string[];
  readonly hostTcpPort: number;
  readonly hostUdpPort: number;
  readonly hostAbstractName: string;
  readonly hostSocketPath: string;
  readonly corePort: number;
  readonly neighbourAddresses: readonly string[];
  readonly neighbourPort: number;
  readonly neighbourAbstractName: string;
  readonly neighbourSharedMemoryKey: number;
  /** Where the Gateway listens, as the workload sees it. */
  readonly gatewayHost: string;
  readonly gatewayPort: number;
  readonly ownCredential: string;
  readonly formerCredential: string;
  readonly neighbourCredential: string;
}

export interface Way {
  /** A sentence about the attempt: `reads a file of the host by its path`. */
  readonly name: string;
  readonly attempt: Attempt;
  /** Where the same attempt gets through, which proves that it can. */
  readonly control: Control;
  /**
   * The danger is only in sharing the host's kernel: a driver whose workloads have a kernel of their own may let it
   * through, since it leads nowhere but there.
   */
  readonly kernelOnly?: true;
  /** What comes of it with `runtime.network-tunnel`, which grants exactly this, over the workload's own network. */
  readonly withTunnel?: RegExp;
}

/**
 * `as the user`: a plain process of the host, under the workload's user. `as root`: a process of root in namespaces
 * of its own, where nothing can be harmed. `at core`: the same bytes sent to core, without a Gateway in between.
 * `directly`: the same answer or line, without what filters it. `elsewhere`: the test named is the proof.
 */
export type Control = 'as the user' | 'as root' | 'at core' | 'directly' | { readonly because: string };

export type Attempt =
  /** Code inside. Gives `through …` when it got somewhere, and otherwise how it was refused. */
  | { readonly kind: 'code'; readonly inside: (kit: Kit, targets: Targets) => string | Promise<string> }
  /** System calls inside, with no help of Node. Default: through unless the last one is refused with a known error. */
  | {
      readonly kind: 'calls';
      readonly calls: (targets: Targets) => readonly Call[];
      readonly through?: (output: ProgramOutput, targets: Targets) => boolean;
    }
  /** Bytes to the Gateway; through when core sees what `reaches` recognises. */
  | {
      readonly kind: 'request';
      readonly bytes: (targets: Targets) => string;
      readonly reaches: (seen: SeenRequest, targets: Targets) => boolean;
    }
  /** Bytes as the answer to a caller; through when the caller gets what `fools` recognises. */
  | { readonly kind: 'answer'; readonly bytes: string; readonly fools: (answer: SeenAnswer) => boolean }
  /** Bytes on stdout; through when a stored line shows what `fools` recognises. */
  | { readonly kind: 'print'; readonly bytes: string; readonly fools: (lines: readonly SeenLine[]) => boolean };

export interface SeenRequest {
  readonly target: string;
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface SeenAnswer {
  /** Undefined when there was none. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface SeenLine {
  readonly stream: string;
  readonly line: string;
}

/** The errors with which a kernel says no, rather than that it did not understand. */
const REFUSALS = new Set([
  ...['EPERM', 'EACCES', 'ENOSYS', 'EROFS', 'ESRCH', 'ENOENT', 'ENODEV', 'ENXIO', 'EAFNOSUPPORT', 'ECHILD'],
  ...['EPROTONOSUPPORT', 'ESOCKTNOSUPPORT', 'EOPNOTSUPP', 'ENETUNREACH', 'ECONNREFUSED', 'EXDEV', 'ELOOP'],
]);

/** Whether the outcome of system calls means that they got somewhere. */
export function isThrough(output: ProgramOutput): boolean {
  return !REFUSALS.has(output.last);
}
