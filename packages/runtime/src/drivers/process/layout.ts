// The file system of a workload: an ordered list of mounts that both mechanisms apply.

import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { MiB } from '@platform/contract/sizes';

export type Mount =
  | { readonly kind: 'read-only'; readonly source: string; readonly target: string; readonly file?: true }
  | { readonly kind: 'read-write'; readonly source: string; readonly target: string; readonly file?: true }
  | { readonly kind: 'device'; readonly target: string }
  | { readonly kind: 'tmpfs'; readonly target: string; readonly bytes: number; readonly mode: string }
  | { readonly kind: 'proc'; readonly target: string }
  | { readonly kind: 'link'; readonly to: string; readonly target: string }
  | { readonly kind: 'folder'; readonly target: string }
  /** Turns the root itself, a small tmpfs, read-only after everything in it is in place. */
  | { readonly kind: 'seal-root' };

/** Paths inside the sandbox. */
export const inside = {
  node: '/opt/platform/bin/node',
  bootstrap: '/opt/platform/bootstrap.mjs',
  runner: '/opt/platform/run-executable.mjs',
  init: '/opt/platform/init.sh',
  filter: '/opt/platform/filter.bpf',
  app: '/app',
  volume: '/volume',
  temporary: '/tmp',
} as const;

const SHARED_MEMORY_BYTES = 16 * MiB;

export interface LayoutInput {
  /** Files of the Runtime that every sandbox shares; all readable by everyone. */
  readonly shared: {
    readonly node: string;
    readonly bootstrap: string;
    readonly runner: string;
    readonly init: string;
    readonly etc: string;
    readonly filter: string | undefined;
  };
  /** The package's `workload/` folder. */
  readonly app: string;
  readonly volume?: string;
  /** Its own resolv.conf, which the Runtime may change while it runs. */
  readonly resolver?: string;
  /** Size of the private /tmp. */
  readonly temporaryBytes: number;
}

/**
 * The mounts of one sandbox, in the order in which they are made. Nothing of the host is writable except the volume,
 * and nothing is visible except system libraries and programs, certificates, and the package.
 */
export function sandboxLayout(input: LayoutInput): readonly Mount[] {
  return [
    ...systemMounts(input.shared.etc),
    ...(input.resolver === undefined
      ? []
      : [{ kind: 'read-only', source: input.resolver, target: '/etc/resolv.conf', file: true } satisfies Mount]),
    { kind: 'folder', target: '/opt/platform/bin' },
    { kind: 'read-only', source: input.shared.node, target: inside.node, file: true },
    { kind: 'read-only', source: input.shared.bootstrap, target: inside.bootstrap, file: true },
    { kind: 'read-only', source: input.shared.runner, target: inside.runner, file: true },
    { kind: 'read-only', source: input.shared.init, target: inside.init, file: true },
    ...(input.shared.filter === undefined
      ? []
      : [{ kind: 'read-only', source: input.shared.filter, target: inside.filter, file: true } satisfies Mount]),
    { kind: 'read-only', source: input.app, target: inside.app },
    { kind: 'tmpfs', target: inside.temporary, bytes: input.temporaryBytes, mode: '1777' },
    { kind: 'folder', target: '/run' },
    { kind: 'folder', target: '/var' },
    { kind: 'link', to: '/tmp', target: '/var/tmp' },
    { kind: 'folder', target: '/dev' },
    ...['null', 'zero', 'full', 'random', 'urandom'].map((name): Mount => ({ kind: 'device', target: `/dev/${name}` })),
    { kind: 'link', to: '/proc/self/fd', target: '/dev/fd' },
    { kind: 'link', to: '/proc/self/fd/0', target: '/dev/stdin' },
    { kind: 'link', to: '/proc/self/fd/1', target: '/dev/stdout' },
    { kind: 'link', to: '/proc/self/fd/2', target: '/dev/stderr' },
    { kind: 'tmpfs', target: '/dev/shm', bytes: SHARED_MEMORY_BYTES, mode: '1777' },
    { kind: 'proc', target: '/proc' },
    ...(input.volume === undefined
      ? []
      : [{ kind: 'read-write', source: input.volume, target: inside.volume } satisfies Mount]),
    { kind: 'seal-root' },
  ];
}

/** The system's programs and libraries, and the bare /etc. */
export function systemMounts(etc: string): readonly Mount[] {
  return [
    { kind: 'read-only', source: '/usr', target: '/usr' },
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap(systemFolder),
    { kind: 'read-only', source: etc, target: '/etc' },
    ...etcMounts(),
  ];
}

/** Folders such as /lib are links into /usr on merged systems, and real ones on others. */
function systemFolder(path: string): Mount[] {
  if (!existsSync(path)) return [];
  if (lstatSync(path).isSymbolicLink()) return [{ kind: 'link', to: readlinkSync(path), target: path }];
  return [{ kind: 'read-only', source: path, target: path }];
}

/** Parts of the host's /etc that programs need and that hold nothing private. */
export const etcFiles = ['ld.so.cache', 'ssl/openssl.cnf'] as const;
export const etcFolders = [
  'ssl/certs',
  'alternatives',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'ca-certificates/extracted',
] as const;

function etcMounts(): Mount[] {
  const here = (name: string) => existsSync(`/etc/${name}`);
  return [
    ...etcFiles.filter(here).map((name): Mount => readOnly(`/etc/${name}`, true)),
    ...etcFolders.filter(here).map((name): Mount => readOnly(`/etc/${name}`)),
  ];
}

function readOnly(path: string, file?: true): Mount {
  return { kind: 'read-only', source: path, target: path, ...(file ? { file } : {}) };
}
