// Settings of a machine that runs backends: how it and core reach each other, its resources, and its driver.
import type { CoreConfig } from './config.ts';
import { type DockerSettings, readDockerSettings } from './docker-settings.ts';
import { type MicrovmSettings, readMicrovmSettings } from './microvm-settings.ts';
import {
  type AddressAndPort,
  addressAndPortOf,
  choiceOf,
  integerOf,
  optionalPathOf,
  type Read,
  wrong,
} from './variables.ts';

export interface NodeSettings extends Pick<CoreConfig, 'nodeLostMilliseconds'>, DockerSettings {
  /** Whether workloads run on core's own machine. */
  readonly localNode: boolean;
  readonly linkListen: AddressAndPort | null;
  readonly linkCarrier: 'tls' | 'iroh';
  /** URL; `null` for none. */
  readonly irohRelay: string | null;
  /** Where core reaches the control side of this machine as a node of another one; `null`: found out. */
  readonly nodeControl: AddressAndPort | null;
  /** Where Ingresses of other machines reach its public side; `null`: found out. */
  readonly nodePublic: AddressAndPort | null;
  /** `null`: what the machine has, less a part for itself. */
  readonly nodeMemoryMiB: number | null;
  readonly sharedVolumes: string | null;
  readonly runtimeDriver: 'auto' | 'process' | 'docker' | 'microvm';
  readonly microvm: MicrovmSettings;
  readonly allowUnsandboxed: boolean;
}

/** @throws StartError for anything but an http or https URL, and where nothing would use it */
function relayOf(read: Read): string | null {
  const name = 'PLATFORM_IROH_RELAY';
  const url = read(name);
  if (url === undefined) return null;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw wrong(name, `is "${url}"`, 'set the URL of a relay, such as https://relay.example.org');
  if (read('PLATFORM_LINK_CARRIER') !== 'iroh')
    throw wrong(name, 'is set and nothing uses it', 'set PLATFORM_LINK_CARRIER=iroh, or leave it out');
  return url;
}

export function readNodeSettings(read: Read): NodeSettings {
  const memory = 'PLATFORM_NODE_MEMORY_MIB';
  return {
    localNode: choiceOf(read, 'PLATFORM_LOCAL_NODE', ['true', 'false'] as const) === 'true',
    linkListen: addressAndPortOf(read, 'PLATFORM_LINK_LISTEN'),
    linkCarrier: choiceOf(read, 'PLATFORM_LINK_CARRIER', ['tls', 'iroh'] as const),
    irohRelay: relayOf(read),
    nodeControl: addressAndPortOf(read, 'PLATFORM_NODE_CONTROL'),
    nodePublic: addressAndPortOf(read, 'PLATFORM_NODE_PUBLIC'),
    nodeMemoryMiB: read(memory) === undefined ? null : integerOf(read, memory, 32, 2 ** 31 - 1),
    nodeLostMilliseconds: integerOf(read, 'PLATFORM_NODE_LOST_SECONDS', 20, 86_400) * 1_000,
    sharedVolumes: optionalPathOf(read, 'PLATFORM_VOLUMES_SHARED'),
    runtimeDriver: choiceOf(read, 'PLATFORM_RUNTIME_DRIVER', ['auto', 'process', 'docker', 'microvm'] as const),
    microvm: readMicrovmSettings(read),
    ...readDockerSettings(read),
    allowUnsandboxed: choiceOf(read, 'PLATFORM_RUNTIME_ALLOW_UNSANDBOXED', ['false', 'true'] as const) === 'true',
  };
}
