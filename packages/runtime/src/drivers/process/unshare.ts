// Builds a sandbox with util-linux alone (unshare, mount, pivot_root, setpriv) where bubblewrap is missing.
import { inside, type Mount } from './layout.ts';

export interface UnshareInput {
  readonly mounts: readonly Mount[];
  /**
   * An empty folder over which the new root is mounted; each sandbox has its own mount namespace, so all may share it.
   */
  readonly stage: string;
  /**
   * `user-namespace`: the caller is an unprivileged user and becomes root of a new user namespace only to build the
   * sandbox. `root`: the caller is root on a machine that forbids user namespaces; `uid` is taken at the end.
   */
  readonly privilege: { readonly kind: 'user-namespace' } | { readonly kind: 'root'; readonly uid: number };
  /** Lines of shell, run in the new namespaces when all mounts stand and before anything is given up. Default: none. */
  readonly prepare?: readonly string[];
  /** What loads the system call filter before the workload; empty where nothing here can. */
  readonly filterLoader: readonly string[];
  readonly command: readonly string[];
}

const DROP_EVERYTHING = [
  '--no-new-privs',
  '--bounding-set=-all',
  '--inh-caps=-all',
  '--ambient-caps=-all',
  '--pdeathsig',
  'KILL',
];

/**
 * A step of its own, before the network is made: the kernel gives the files of a network device below /sys to whom root is mapped
 * to at that moment, and `loopbackUp` may have to write one.
 */
const ROOT_OF_USER_NAMESPACE = ['unshare', '--user', '--map-root-user', '--'];

/** The argument list: namespaces first, then a small script that builds the root, then everything is given up. */
export function unshareArguments(input: UnshareInput): string[] {
  const inUserNamespace = input.privilege.kind === 'user-namespace';
  return [
    // unshare itself must die with the Runtime; its child dies with it (--kill-child), and with that the whole
    // namespace.
    'setpriv',
    '--pdeathsig',
    'KILL',
    '--',
    ...(inUserNamespace ? ROOT_OF_USER_NAMESPACE : []),
    'unshare',
    '--mount',
    '--propagation',
    'private',
    '--pid',
    '--fork',
    '--kill-child=KILL',
    '--ipc',
    '--uts',
    '--net',
    '--cgroup',
    '--',
    '/bin/sh',
    '-euc',
    setupScript(input),
    'sandbox',
    ...giveUp(input.privilege),
    ...input.filterLoader,
    '/bin/sh',
    inside.init,
    ...input.command,
  ];
}

/** The last steps: a user that is not root inside, no capability, no way to get one. */
function giveUp(privilege: UnshareInput['privilege']): string[] {
  if (privilege.kind === 'user-namespace') {
    return [
      'unshare',
      '--user',
      '--map-user=1000',
      '--map-group=1000',
      '--keep-caps',
      '--',
      'setpriv',
      ...DROP_EVERYTHING,
      '--',
    ];
  }
  const id = String(privilege.uid);
  return ['setpriv', '--reuid', id, '--regid', id, '--clear-groups', ...DROP_EVERYTHING, '--'];
}

function setupScript(input: UnshareInput): string {
  const root = input.stage;
  const at = (target: string) => quote(root + target);
  const folders = input.mounts.flatMap((mount) => {
    if (mount.kind === 'folder') return [at(mount.target)];
    if (mount.kind === 'device' || mount.kind === 'link' || mount.kind === 'seal-root') return [];
    if ('file' in mount || (mount.kind === 'read-only' && mount.target.startsWith('/etc/'))) return [];
    return [at(mount.target)];
  });
  // Mount points below /etc stand ready in the folder that is bound there.
  const files = input.mounts.flatMap((mount) => {
    if (mount.kind === 'device') return [at(mount.target)];
    return 'file' in mount && !mount.target.startsWith('/etc/') ? [at(mount.target)] : [];
  });
  const links = input.mounts.flatMap((mount) =>
    mount.kind === 'link' ? [`ln -s ${quote(mount.to)} ${at(mount.target)}`] : [],
  );
  const table = input.mounts.flatMap((mount) => tableLine(mount, root));
  return [
    loopbackUp,
    // The mount points are for the workload's user.
    'umask 022',
    `mount -t tmpfs -o mode=0755,size=1m,nosuid,nodev tmpfs ${quote(root)}`,
    `mkdir -p ${folders.join(' ')}`,
    ...files.map((file) => `: > ${file}`),
    ...links,
    // One process carries out the whole table: a `mount` per line would double the time to start. The file with the
    // table disappears below the private /tmp that the table itself mounts.
    `printf '%s\\n' ${table.map(quote).join(' ')} > ${at('/tmp/table')}`,
    `mount -n -a -T ${at('/tmp/table')}`,
    ...(input.prepare ?? []),
    'hostname workload 2>/dev/null || echo workload > /proc/sys/kernel/hostname 2>/dev/null || :',
    `cd ${quote(root)}`,
    'pivot_root . run',
    'cd /',
    'umount -l /run',
    'mount -n -o remount,bind,ro,nosuid,nodev /',
    // One more user namespace is needed for the last step, and none after it.
    ...(input.privilege.kind === 'user-namespace' ? ['echo 1 > /proc/sys/user/max_user_namespaces'] : []),
    'exec "$@"',
  ].join('\n');
}

/** A line of fstab(5); its fields escape blanks as octal. */
function tableLine(mount: Mount, root: string): string[] {
  const field = (text: string) =>
    text.replaceAll(/[\s\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
  const line = (source: string, target: string, type: string, options: string) => [
    `${field(source)} ${field(root + target)} ${type} ${options} 0 0`,
  ];
  switch (mount.kind) {
    case 'read-only':
      return line(mount.source, mount.target, 'none', 'rbind,ro,nosuid,nodev');
    case 'read-write':
      return line(mount.source, mount.target, 'none', 'rbind,nosuid,nodev');
    case 'device':
      return line(mount.target, mount.target, 'none', 'bind');
    case 'tmpfs':
      return line('tmpfs', mount.target, 'tmpfs', `size=${mount.bytes},mode=${mount.mode},nosuid,nodev`);
    case 'proc':
      return line('proc', mount.target, 'proc', 'nosuid,nodev,noexec');
    default:
      return [];
  }
}

/** The new network namespace holds only a loopback device that is down. Whatever tool there is brings it up. */
export const loopbackUp = `
if command -v ip >/dev/null 2>&1; then ip link set lo up
elif command -v ifconfig >/dev/null 2>&1; then ifconfig lo 127.0.0.1 up
elif command -v busybox >/dev/null 2>&1; then busybox ip link set lo up
else
  mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
  echo 0x9 > /sys/class/net/lo/flags
fi`.trim();

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
