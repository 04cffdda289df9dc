// The environment of a workload: what the platform gives it, and what its manifest may add.
import type { Assignment } from '@platform/contract';
import { inside } from './sandbox/layout.ts';

/** Names that would change how the sandbox or Node itself starts, or that only the platform may set. */
const RESERVED =
  /^(PLATFORM_|PROVIDER_|LD_|DYLD_|NODE_CHANNEL_|NODE_REPL_)|^(NODE_OPTIONS|NODE_V8_COVERAGE|NODE_EXTRA_CA_CERTS|GLIBC_TUNABLES|PORT)$/;

export interface WorkloadEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the manifest that were left out, to be told in the log. */
  readonly dropped: readonly string[];
}

export interface EnvironmentInput {
  readonly assignment: Assignment;
  /** `pgw_…` */
  readonly gatewayCredential: string;
  /** Where the workload finds its volume; inside a sandbox always the same place. */
  readonly volume: string | undefined;
  /** The port it must listen on: that of the manifest, except without a sandbox. */
  readonly port: number;
}

/** Everything except PLATFORM_API_URL, which is known only when the sandbox stands. */
export function workloadEnvironment({
  assignment,
  gatewayCredential,
  volume,
  port,
}: EnvironmentInput): WorkloadEnvironment {
  const authored = Object.entries(assignment.workload.environment ?? {});
  const kept = authored.filter(([name]) => !RESERVED.test(name));
  return {
    variables: {
      PATH: '/opt/platform/bin:/usr/local/bin:/usr/bin:/bin',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      HOME: volume ?? inside.temporary,
      ...Object.fromEntries(kept),
      PORT: String(port),
      PLATFORM_GATEWAY_TOKEN: gatewayCredential,
      PLATFORM_APP_CAPABILITY: assignment.dataPlaneCapability,
      PLATFORM_APP_ORIGIN: assignment.appOrigin,
      ...(volume === undefined ? {} : { PLATFORM_VOLUME_DIR: volume }),
    },
    dropped: authored.map(([name]) => name).filter((name) => RESERVED.test(name)),
  };
}
