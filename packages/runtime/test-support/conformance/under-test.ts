// What the conformance suite needs to know about the driver under test.
import type { Driver, NetworkPolicy } from '../../src/drivers/driver.ts';

export interface DriverUnderTest {
  /** Names the tests: `process, bubblewrap`. */
  readonly name: string;
  /**
   * A module that exports `openForConformance` (see `OpenForConformance`). The suite imports it in this process, and in
   * one of its own that it kills.
   */
  readonly module: URL;
  /** Given to `openForConformance` as it is; must survive JSON. */
  readonly options: Readonly<Record<string, string>>;
  /** How many times longer than a process sandbox it may take for everything. Default: 1. */
  readonly timeFactor?: number;
  /** Behaviours that may be tried at the same time where they do not disturb each other. Default: 1. */
  readonly parallel?: number;
  /** What its workloads may reach where a test does not say otherwise; must really be given. Default: nothing. */
  readonly network?: NetworkPolicy;
  readonly can: {
    /** What becomes of workloads when the Runtime is killed: they end with it, or the next one takes them over. */
    readonly runtimeKilled: 'ends' | 'adopted';
    /** Whether the processor time that a workload sees itself is what its limit counts; false for a guest. */
    readonly cpuTimeSeenInside: boolean;
    /** Its workloads run on a kernel of their own, so that what leads into it leads nowhere. Default: false. */
    readonly ownKernel?: boolean;
    /** It publishes UDP ports. Default: it says of each that it cannot, and opens none. */
    readonly publishesUdp?: true;
    /** It provides network tunnels. Default: the status says that it does not. */
    readonly tunnels?: true;
  };
  /**
   * What the driver has standing outside of this process's tree that names one of `words` (an installation, the data
   * folder): containers, networks, taps, tables. The suite itself looks at processes, mounts, control groups, sockets
   * and files.
   */
  traces?(words: readonly string[]): Promise<readonly string[]>;
}

/** Opens the driver on a world-accessible folder; the driver clears what an earlier one left there. */
export type OpenForConformance = (dataDirectory: string, options: Readonly<Record<string, string>>) => Promise<Driver>;

export async function openUnderTest(
  module: string,
  dataDirectory: string,
  options: Readonly<Record<string, string>>,
): Promise<Driver> {
  const { openForConformance }: { openForConformance: OpenForConformance } = await import(module);
  return openForConformance(dataDirectory, options);
}
