// A system call filter for sandboxes: takes away what no app backend needs and kernels have been broken through.
// Classic BPF as seccomp(2) wants it, made here because no tool that compiles one can be counted on.

interface Processor {
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly refused: readonly number[];
}

/** Numbers that x86-64 and arm64 share (all calls since 2019). */
// biome-ignore format: a call per line would hide the groups
const REFUSED_EVERYWHERE = [
  425, 426, 427, // io_uring_*: a second way to every other call, past this filter
  428, 429, 430, 431, 432, 433, 442, 467, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr
  438, 443, // pidfd_getfd, quotactl_fd
];

// biome-ignore format: a call per line would hide the groups
const PROCESSORS: Readonly<Record<string, Processor>> = {
  x64: {
    audit: 0xc000003e, clone: 56, clone3: 435, ioctl: 16, socket: 41,
    refused: [
      101, 310, 311, 312, // ptrace, process_vm_readv, process_vm_writev, kcmp
      155, 161, 165, 166, 272, 308, // pivot_root, chroot, mount, umount2, unshare, setns
      167, 168, 169, 170, 171, 172, 173, // swapon, swapoff, reboot, sethostname, setdomainname, iopl, ioperm
      175, 176, 313, 246, 320, // init_module, delete_module, finit_module, kexec_load, kexec_file_load
      163, 179, 159, 164, 227, 305, // acct, quotactl, adjtimex, settimeofday, clock_settime, clock_adjtime
      248, 249, 250, // add_key, request_key, keyctl: not divided by namespaces
      321, 298, 323, 300, // bpf, perf_event_open, userfaultfd, fanotify_init
      303, 304, 256, 279, // name_to_handle_at, open_by_handle_at, migrate_pages, move_pages
      103, 134, 136, 139, 153, 154, 156, 180, 212, // syslog, uselib, ustat, sysfs, vhangup, modify_ldt, _sysctl, nfsservctl, lookup_dcookie
      ...REFUSED_EVERYWHERE,
    ],
  },
  arm64: {
    audit: 0xc00000b7, clone: 220, clone3: 435, ioctl: 29, socket: 198,
    refused: [
      117, 270, 271, 272, // ptrace, process_vm_readv, process_vm_writev, kcmp
      41, 51, 40, 39, 97, 268, // pivot_root, chroot, mount, umount2, unshare, setns
      224, 225, 142, 161, 162, // swapon, swapoff, reboot, sethostname, setdomainname
      105, 106, 273, 104, 294, // init_module, delete_module, finit_module, kexec_load, kexec_file_load
      89, 60, 171, 170, 112, 266, // acct, quotactl, adjtimex, settimeofday, clock_settime, clock_adjtime
      217, 218, 219, // add_key, request_key, keyctl
      280, 241, 282, 262, // bpf, perf_event_open, userfaultfd, fanotify_init
      264, 265, 238, 239, // name_to_handle_at, open_by_handle_at, migrate_pages, move_pages
      116, 58, 42, 18, // syslog, vhangup, nfsservctl, lookup_dcookie
      ...REFUSED_EVERYWHERE,
    ],
  },
};

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;

const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;
const X32_BIT = 0x40000000;
/** Every CLONE_NEW… flag of clone(2). */
const NEW_NAMESPACE_FLAGS = 0x7e020000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** Unix, IPv4, IPv6, netlink. Others, such as vsock, are not divided by network namespaces. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter as bytes of `struct sock_filter[]`, or undefined on a processor it is not made for. */
export function seccompFilter(processor: string = process.arch): Buffer | undefined {
  const numbers = PROCESSORS[processor];
  return numbers === undefined ? undefined : encode(program(numbers));
}

function program(numbers: Processor): Instruction[] {
  const argument = (index: number) => ARGUMENTS_OFFSET + 8 * index;
  return [
    [LOAD_WORD, 0, 0, ARCHITECTURE_OFFSET],
    [JUMP_EQUAL, 1, 0, numbers.audit],
    [RETURN, 0, 0, ENOSYS],
    [LOAD_WORD, 0, 0, NUMBER_OFFSET],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, ENOSYS],
    ...numbers.refused.flatMap((number): Instruction[] => [
      [JUMP_EQUAL, 0, 1, number],
      [RETURN, 0, 0, EPERM],
    ]),
    // Its flags lie in memory where a filter cannot look; programs fall back to clone.
    [JUMP_EQUAL, 0, 1, numbers.clone3],
    [RETURN, 0, 0, ENOSYS],
    [JUMP_EQUAL, 0, 4, numbers.clone],
    [LOAD_WORD, 0, 0, argument(0)],
    [JUMP_ANY_BIT, 0, 1, NEW_NAMESPACE_FLAGS],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 5, numbers.ioctl],
    [LOAD_WORD, 0, 0, argument(1)],
    [JUMP_EQUAL, 1, 0, TIOCSTI],
    [JUMP_EQUAL, 0, 1, TIOCLINUX],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 2 + SOCKET_FAMILIES.length, numbers.socket],
    [LOAD_WORD, 0, 0, argument(0)],
    ...SOCKET_FAMILIES.map((family, index): Instruction => [JUMP_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
    [RETURN, 0, 0, EAFNOSUPPORT],
    [RETURN, 0, 0, ALLOW],
  ];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}

/**
 * Loads the filter in the file that the first argument names, by prctl(2), whose number is the second, and runs the rest, for the mechanism that has no loader of its own.
 * PR_SET_NO_NEW_PRIVS must already be set. Ends with an error instead of running anything unfiltered.
 */
export const perlLoader = `
use strict;
my $file = shift @ARGV;
my $number = shift @ARGV;
open(my $in, "<:raw", $file) or die "filter: $!\\n";
my $filter = do { local $/; <$in> };
close($in);
my $program = pack("S x![P] P", length($filter) / 8, $filter);
syscall($number + 0, 22, 2, $program, 0, 0) == 0 or die "filter: $!\\n";
exec { $ARGV[0] } @ARGV or die "exec: $!\\n";
`;

/** Number of prctl(2). */
export const prctlNumber: Readonly<Record<string, number>> = { x64: 157, arm64: 167 };
