// The resolv.conf of one workload: name servers while it may reach the internet, none otherwise.
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modes } from '../../modes.ts';

export interface ResolverFile {
  readonly path: string;
  /** Changes it in place: the sandbox shows this file and not its name. */
  set(servers: readonly string[]): void;
  remove(): void;
}

export function resolverText(servers: readonly string[]): string {
  if (servers.length > 0) return servers.map((server) => `nameserver ${server}\n`).join('');
  return '# There is no name server: the only way out is the Gateway at PLATFORM_API_URL.\n';
}

/** Makes the folder of these files, and removes what an earlier Runtime left in it. */
export function openResolverFolder(folder: string): (key: string) => ResolverFile {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, modes.passage);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
  return (key) => {
    const path = join(folder, key);
    writeFileSync(path, resolverText([]));
    chmodSync(path, modes.givenFile);
    return {
      path,
      set: (servers) => writeFileSync(path, resolverText(servers)),
      remove: () => rmSync(path, { force: true }),
    };
  };
}
