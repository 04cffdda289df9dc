// The Runtime of a node as the commands start it: beside core, or alone on a machine that joined.
import { randomBytes } from 'node:crypto';
import { agentWorker } from '@platform/agent-worker/program';
import type { createLog } from '@platform/core/log';
import { startGateway } from '@platform/gateway';
import { gatewaySidecar } from '@platform/gateway/sidecar';
import type { LinkKey } from '@platform/link';
import { type Runtime, type RuntimeOptions, startRuntime } from '@platform/runtime';
import type { NodeMetrics } from '@platform/runtime/metrics';
import type { NodeConfig } from './config.ts';

export type NodePlace = Pick<RuntimeOptions, 'dataDirectory' | 'coreOrigin' | 'coreHost'> &
  Partial<
    Pick<RuntimeOptions, 'coreKey' | 'controllerKey' | 'control' | 'public' | 'iroh' | 'behindIngresses' | 'onRemoved'>
  > & {
    readonly key: LinkKey;
    readonly log: ReturnType<typeof createLog>;
    readonly metrics: NodeMetrics | undefined;
  };

export function startNodeRuntime(config: NodeConfig, { key, metrics, ...place }: NodePlace): Promise<Runtime> {
  return startRuntime({
    ...place,
    nodeKey: key,
    nodeOrigin: config.nodeOrigin,
    listenHost: config.listenHost,
    listenPort: config.nodePort,
    allowUnsandboxed: config.allowUnsandboxed,
    driver: config.runtimeDriver,
    gatewaySidecar,
    agentWorker,
    dockerSocket: config.dockerSocket,
    imageRegistries: config.imageRegistries,
    microvm: config.microvm,
    workloadDns: config.workloadDns,
    outbound: config.outbound,
    ...(config.udpPortRange === null ? {} : { udp: { host: config.publicHost, range: config.udpPortRange } }),
    ...(config.nodeMemoryMiB === null ? {} : { memoryMiB: config.nodeMemoryMiB }),
    ...(config.sharedVolumes === null ? {} : { sharedVolumes: config.sharedVolumes }),
    clock: () => new Date(),
    random: randomBytes,
    startGateway,
    ...(metrics === undefined ? {} : { metrics }),
  });
}
