// Programs for which no name exists: neither in a file of the machine, nor at a name server, nor by what nsswitch.conf adds.
// A program that reaches a name below `localhost` there knows by itself that it is this machine.
import { execFileSync } from 'node:child_process';

/** In a mount namespace of its own, so that the machine keeps its files. */
const EMPTY = `
for file in /etc/hosts /etc/resolv.conf; do if [ -e $file ]; then mount --bind /dev/null $file; fi; done
if [ -e /etc/nsswitch.conf ]; then mount -t tmpfs none /mnt; echo 'hosts: files dns' > /mnt/nsswitch; mount --bind /mnt/nsswitch /etc/nsswitch.conf; fi
for folder in /run/nscd /run/systemd/resolve; do if [ -d $folder ]; then mount -t tmpfs none $folder; fi; done
exec "$0" "$@"`;
const WALLS = ['unshare', '--mount', '--map-root-user', '--', 'sh', '-euc', EMPTY] as const;

export interface Line {
  readonly program: string;
  readonly args: readonly string[];
}

/** The line that runs a program so. */
export function withoutResolver(program: string, args: readonly string[]): Line {
  const [first, ...rest] = [...WALLS, program, ...args];
  return { program: first ?? '', args: rest };
}

/** Why there can be no such program here; `false` where there can. */
export function resolverUnavoidable(): string | false {
  try {
    const { program, args } = withoutResolver('true', []);
    execFileSync(program, args, { stdio: 'ignore' });
    return false;
  } catch {
    return 'needs a mount namespace: run it as root, or allow user namespaces';
  }
}
