// Builds a sandbox with bubblewrap (bwrap 0.8 or later), the preferred mechanism.
import type { Mount } from './layout.ts';

export interface BubblewrapInput {
  readonly program: string;
  readonly mounts: readonly Mount[];
  readonly network: 'its own' | 'the one it is started in';
  /** Descriptor of the compiled system call filter, or undefined on a processor it is not made for. */
  readonly seccompDescriptor?: number;
  readonly command: readonly string[];
}

/**
 * The argument list. The caller's user is mapped to 1000 in a user namespace that can make no further ones, all
 * capabilities are dropped, and everything dies with the caller.
 */
export function bubblewrapArguments(input: BubblewrapInput): string[] {
  return [
    input.program,
    '--unshare-user',
    '--uid',
    '1000',
    '--gid',
    '1000',
    '--disable-userns',
    '--unshare-ipc',
    '--unshare-pid',
    ...(input.network === 'its own' ? ['--unshare-net'] : []),
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--hostname',
    'workload',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...(input.seccompDescriptor === undefined ? [] : ['--seccomp', String(input.seccompDescriptor)]),
    ...input.mounts.flatMap(mountArguments),
    '--chdir',
    '/',
    '--',
    ...input.command,
  ];
}

function mountArguments(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read-only':
      return ['--ro-bind', mount.source, mount.target];
    case 'read-write':
      return ['--bind', mount.source, mount.target];
    case 'device':
      return ['--dev-bind', mount.target, mount.target];
    case 'tmpfs':
      return ['--perms', mount.mode, '--size', String(mount.bytes), '--tmpfs', mount.target];
    case 'proc':
      return ['--proc', mount.target];
    case 'link':
      return ['--symlink', mount.to, mount.target];
    case 'folder':
      return ['--dir', mount.target];
    case 'seal-root':
      return ['--remount-ro', '/'];
  }
}
