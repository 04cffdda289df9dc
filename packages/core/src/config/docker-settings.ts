// Settings of the driver `docker`: where its engine listens, and from which registries images of apps may come.
import { isRegistryEntry } from '@platform/contract';
import { absolutePath, listed, type Read, textOf, wrong } from './variables.ts';

export interface DockerSettings {
  readonly dockerSocket: string;
  /** Registries from which images of apps may come. */
  readonly imageRegistries: readonly string[];
}

export function readDockerSettings(read: Read): DockerSettings {
  return {
    dockerSocket: absolutePath('PLATFORM_RUNTIME_DOCKER_SOCKET', textOf(read, 'PLATFORM_RUNTIME_DOCKER_SOCKET')),
    imageRegistries: readRegistries(read('PLATFORM_RUNTIME_IMAGE_REGISTRIES') ?? ''),
  };
}

function readRegistries(value: string): string[] {
  const entries = listed(value);
  for (const entry of entries) {
    if (isRegistryEntry(entry)) continue;
    throw wrong(
      'PLATFORM_RUNTIME_IMAGE_REGISTRIES',
      `holds "${entry}"`,
      'list registries like registry.example, registry.example:5000 or registry.example/team, separated by commas',
    );
  }
  return entries;
}
