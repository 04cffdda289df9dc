// What a node needs of the configuration, and nothing that it must not have: no database, no master key.
import type { PlatformConfig } from '@platform/core/config';

const members = [
  'nodeOrigin',
  'listenHost',
  'nodePort',
  'nodeControl',
  'nodePublic',
  'allowUnsandboxed',
  'runtimeDriver',
  'dockerSocket',
  'imageRegistries',
  'microvm',
  'workloadDns',
  'udpPortRange',
  'publicHost',
  'nodeMemoryMiB',
  'sharedVolumes',
  'outbound',
] as const satisfies readonly (keyof PlatformConfig)[];

export type NodeConfig = Pick<PlatformConfig, (typeof members)[number]>;

export function nodeConfig(config: PlatformConfig): NodeConfig {
  return Object.fromEntries(members.map((name) => [name, config[name]])) as NodeConfig;
}
