// System calls that no app backend needs and through which kernels have been exploited. Every driver that shares the
// host's kernel refuses them: process/seccomp.ts compiles them to a filter, docker/seccomp-profile.ts hands them to the
// engine by name.

export interface RefusedCall {
  readonly name: string;
  /** Number on x86-64 and on arm64; `null` where it does not exist. */
  readonly x64: number | null;
  readonly arm64: number | null;
}

const call = (name: string, x64: number | null, arm64: number | null): RefusedCall => ({ name, x64, arm64 });
/** Since 2019 new calls have one number on all processors. */
const both = (name: string, number: number): RefusedCall => call(name, number, number);

// biome-ignore format: a call per line would hide the groups
export const refusedCalls: readonly RefusedCall[] = [
  // Other processes.
  call('ptrace', 101, 117), call('process_vm_readv', 310, 270), call('process_vm_writev', 311, 271), call('kcmp', 312, 272), both('pidfd_getfd', 438),
  // Mounts and namespaces.
  call('pivot_root', 155, 41), call('chroot', 161, 51), call('mount', 165, 40), call('umount2', 166, 39), call('unshare', 272, 97), call('setns', 308, 268),
  both('open_tree', 428), both('move_mount', 429), both('fsopen', 430), both('fsconfig', 431), both('fsmount', 432), both('fspick', 433), both('mount_setattr', 442), both('open_tree_attr', 467),
  // The machine.
  call('swapon', 167, 224), call('swapoff', 168, 225), call('reboot', 169, 142), call('sethostname', 170, 161), call('setdomainname', 171, 162), call('iopl', 172, null), call('ioperm', 173, null),
  call('init_module', 175, 105), call('delete_module', 176, 106), call('finit_module', 313, 273), call('kexec_load', 246, 104), call('kexec_file_load', 320, 294),
  call('acct', 163, 89), call('quotactl', 179, 60), both('quotactl_fd', 443), call('adjtimex', 159, 171), call('settimeofday', 164, 170), call('clock_settime', 227, 112), call('clock_adjtime', 305, 266),
  // Keys: not divided by namespaces.
  call('add_key', 248, 217), call('request_key', 249, 218), call('keyctl', 250, 219),
  // Large interfaces to the kernel, and io_uring, a second way to every other call past any filter.
  call('bpf', 321, 280), call('perf_event_open', 298, 241), call('userfaultfd', 323, 282), call('fanotify_init', 300, 262),
  both('io_uring_setup', 425), both('io_uring_enter', 426), both('io_uring_register', 427),
  call('name_to_handle_at', 303, 264), call('open_by_handle_at', 304, 265), call('migrate_pages', 256, 238), call('move_pages', 279, 239),
  // Old, and of no use here.
  call('syslog', 103, 116), call('uselib', 134, null), call('ustat', 136, null), call('sysfs', 139, null), call('vhangup', 153, 58), call('modify_ldt', 154, null), call('_sysctl', 156, null), call('nfsservctl', 180, 42), call('lookup_dcookie', 212, 18),
];

/** Every CLONE_NEW… flag of clone(2). */
export const newNamespaceFlags = 0x7e020000;
/** ioctl(2) requests that type into a terminal. */
export const refusedRequests = [0x5412, 0x541c] as const;
/** Unix, IPv4, IPv6, netlink. Others, such as vsock, are not divided by network namespaces. */
export const socketFamilies = [1, 2, 10, 16] as const;
