// Why no sandbox can be made on this machine, as far as that is known, each cause with its cure.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tools } from './tools.ts';

const SECCOMP =
  'A seccomp filter refuses it, as in most containers. Run the platform outside of the container, or let the container make namespaces and mounts (Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined).';
const SECURITY_MODULE =
  'The kernel refuses it to the user of the platform: see what a security module logged (dmesg), or run the platform as root.';

interface Where {
  readonly dataDirectory: string;
  readonly tools: Pick<Tools, 'bubblewrap' | 'unshare' | 'setpriv'>;
  /** Whether the platform runs as root. Default: as this process. */
  readonly root?: boolean;
  /** Where the kernel says how it is set. */
  readonly proc?: string;
}

/** @param failures what each mechanism said */
export function causesOf(
  failures: readonly string[],
  { dataDirectory, tools, root = process.getuid?.() === 0, proc = '/proc' }: Where,
): string[] {
  const causes = [...missingTools(tools), ...closedFolders(root, dataDirectory), ...forbidden(root, proc)];
  const isRefused = failures.some((failure) => /operation not permitted|permission denied/i.test(failure));
  if (causes.length > 0 || !isRefused) return causes;
  return [isFiltered(proc) ? SECCOMP : SECURITY_MODULE];
}

function missingTools({ bubblewrap, unshare, setpriv }: Where['tools']): string[] {
  if (bubblewrap !== undefined || (unshare !== undefined && setpriv !== undefined)) return [];
  return [
    'Neither bubblewrap 0.8 nor unshare and setpriv (util-linux) are installed. Debian: apt-get install bubblewrap.',
  ];
}

/** Root runs each app as a user of its own. */
function closedFolders(root: boolean, dataDirectory: string): string[] {
  const blocked = root ? firstClosedFolder(dataDirectory) : undefined;
  if (blocked === undefined) return [];
  return [
    `Other users cannot enter ${blocked}, which leads to the data folder. Choose another PLATFORM_DATA_DIR, or: chmod o+x ${blocked}`,
  ];
}

function forbidden(root: boolean, proc: string): string[] {
  const setting = (name: string) => read(join(proc, 'sys', name.replaceAll('.', '/')))?.trim();
  const causes: string[] = [];
  if (setting('user.max_user_namespaces') === '0')
    causes.push('User namespaces are turned off: sysctl -w user.max_user_namespaces=15000');
  if (setting('kernel.unprivileged_userns_clone') === '0')
    causes.push(
      'User namespaces are only for root: sysctl -w kernel.unprivileged_userns_clone=1, or run the platform as root.',
    );
  if (setting('kernel.apparmor_restrict_unprivileged_userns') === '1' && !root)
    causes.push(
      'AppArmor prevents ordinary users from creating sandboxes: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or run the platform as root.',
    );
  return causes;
}

/** Whether the kernel asks a filter before each call of this process. */
function isFiltered(proc: string): boolean {
  return /^Seccomp:\s*2$/m.test(read(join(proc, 'self/status')) ?? '');
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The topmost folder on the way that users other than its owner cannot enter. */
function firstClosedFolder(folder: string): string | undefined {
  const above = dirname(folder) === folder ? undefined : firstClosedFolder(dirname(folder));
  if (above !== undefined) return above;
  return (statSync(folder).mode & 0o001) === 0 ? folder : undefined;
}
