// Ways to more rights, to other views of the file system, and to the kernel itself. Arguments are chosen so that a
// call that is let through fails in a harmless way.
import { type Call, type ProgramOutput, text } from '../machine-code.ts';
import type { Way } from '../way.ts';

const CLONE_NEWUSER = 0x10000000;
const CLONE_NEWNS = 0x00020000;
const CLONE_NEWNET = 0x40000000;
const SIGCHLD = 17;
/** An address where nothing lies: a call that may go on fails with EFAULT there. */
const NOWHERE = 0x10;

/** One call that must be refused for want of rights. */
function call(name: string, number: number, args: Call['arguments'], more: Partial<Way> = {}): Way {
  return { name, control: 'as root', attempt: { kind: 'calls', calls: () => [{ number, arguments: args }] }, ...more };
}

const isDone = ({ last }: ProgramOutput) => last === 'done';

export const privilegeWays: readonly Way[] = [
  call('becomes root', 105, [0], {
    // EINVAL: there is no root in its user namespace.
    attempt: { kind: 'calls', calls: () => [{ number: 105, arguments: [0] }], through: isDone },
  }),
  call('becomes root in the view of the file system', 122, [0], {
    // The call tells the former id and never fails, so asked twice it tells whether it worked.
    attempt: {
      kind: 'calls',
      calls: () => [
        { number: 122, arguments: [0] },
        { number: 122, arguments: [-1] },
      ],
      through: ({ results }) => results[1] === 0,
    },
  }),
  call('joins the group of root', 106, [0], {
    attempt: { kind: 'calls', calls: () => [{ number: 106, arguments: [0] }], through: isDone },
  }),
  call(
    'takes every capability',
    126,
    [{ bytes: Buffer.from([0x22, 5, 8, 0x20, 0, 0, 0, 0]) }, { bytes: Buffer.alloc(24, 0xff) }],
    {
      attempt: {
        kind: 'calls',
        calls: () => [
          {
            number: 126,
            arguments: [
              { bytes: Buffer.from([0x22, 5, 8, 0x20, 0, 0, 0, 0]) },
              { bytes: Buffer.from('20000000200000000000000000000000', 'hex') },
            ],
          },
        ],
        through: ({ last }) => last === 'done',
      },
    },
  ),
  {
    name: 'runs a program of the system that is setuid root',
    control: { because: 'no_new_privs is checked in the conformance suite; outside it would need a password' },
    attempt: {
      kind: 'code',
      inside: ({ fs, childProcess }) => {
        const status = fs.readFileSync('/proc/self/status', 'utf8');
        const { stdout } = childProcess.spawnSync('su', ['-c', 'id -u'], { encoding: 'utf8', input: '\n' });
        return !/NoNewPrivs:\t1/.test(status) || stdout?.trim() === '0' ? 'through' : 'refused';
      },
    },
  },
  call('makes a user namespace, to be root in it', 272, [CLONE_NEWUSER]),
  call('makes a user namespace with its child', 56, [CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0], {
    // The child would run on as a second program; it ends when it has said the same.
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 56, arguments: [CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0] }],
      through: ({ last }) => last === 'done',
    },
  }),
  call(
    'makes a user namespace by the newer call, which a filter cannot look into',
    435,
    [{ bytes: Buffer.concat([u64(CLONE_NEWUSER), Buffer.alloc(24), u64(SIGCHLD), Buffer.alloc(24)]) }, 64],
    {
      attempt: {
        kind: 'calls',
        calls: () => [
          {
            number: 435,
            arguments: [
              { bytes: Buffer.concat([u64(CLONE_NEWUSER), Buffer.alloc(24), u64(SIGCHLD), Buffer.alloc(24)]) },
              64,
            ],
          },
        ],
        through: ({ last }) => last === 'done',
      },
    },
  ),
  call('makes a mount namespace', 272, [CLONE_NEWNS]),
  call('makes a network namespace', 272, [CLONE_NEWNET]),
  call('mounts a file system of its own', 165, [text('none'), text('/tmp'), text('tmpfs'), 0, 0]),
  call('mounts a fresh /proc', 165, [text('proc'), text('/tmp'), text('proc'), 0, 0]),
  call(
    'mounts the control groups, to run a program of its own when one becomes empty',
    165,
    [text('none'), text('/tmp'), text('cgroup'), 0, text('memory')],
    {
      attempt: {
        kind: 'calls',
        calls: () => [{ number: 165, arguments: [text('none'), text('/tmp'), text('cgroup'), 0, text('memory')] }],
        // EBUSY, EINVAL: the kernel would have, here as a version that does not fit.
        through: ({ last }) => !['EPERM', 'EACCES', 'ENOSYS', 'ENODEV'].includes(last),
      },
    },
  ),
  call('makes its read-only root writable', 165, [text('none'), text('/'), text('none'), 0x1020, 0]),
  call('binds one folder over another', 165, [text('/tmp'), text('/tmp'), text('none'), 0x1000, 0]),
  call('mounts by the newer calls', 430, [text('tmpfs'), 0]),
  call('clones a mount by the newer calls', 428, [-100, text('/'), 1]),
  call('moves a mount by the newer calls', 429, [-1, text(''), -1, text(''), 4], {
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 429, arguments: [-1, text(''), -1, text(''), 4] }],
      through: ({ last }) => !['EPERM', 'EACCES', 'ENOSYS'].includes(last),
    },
  }),
  call('changes a mount by the newer calls', 442, [-100, text('/'), 0, { bytes: Buffer.alloc(32) }, 32]),
  call('takes a mount away, to see what lies below', 166, [text('/proc'), 2], {
    attempt: {
      kind: 'calls',
      // A place where nothing is mounted: who may unmount hears that.
      calls: () => [{ number: 166, arguments: [text('/usr/bin'), 2] }],
      through: ({ last }) => last === 'done' || last === 'EINVAL',
    },
  }),
  call('changes its root', 161, [text('/')]),
  call('turns the old root out', 155, [text('/'), text('/')]),
  call('leaves its root through a directory that it holds', 161, [text('/tmp')]),
  call('loads a module into the kernel', 175, [NOWHERE, 1, text('')]),
  call('loads a module from a file', 313, [-1, text(''), 0], {
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 313, arguments: [-1, text(''), 0] }],
      through: ({ last }) => last === 'EBADF' || last === 'done',
    },
  }),
  call('replaces the kernel', 246, [0, 0x7fffffff, NOWHERE, 0]),
  call('turns the machine off', 169, [1, 2, 3, 0]),
  // A time zone that there is not: who may set the clock hears that.
  call('sets the clock of the machine', 164, [0, { bytes: u64(0x7fff_ffff) }]),
  call('steers the clock of the machine', 159, [{ bytes: Buffer.concat([Buffer.from([1]), Buffer.alloc(207)]) }]),
  call('renames the machine', 170, [NOWHERE, 1]),
  call('reads the log of the kernel', 103, [3, NOWHERE, 16], {
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 103, arguments: [3, { bytes: Buffer.alloc(16) }, 16] }],
      through: ({ last }) => last === 'done',
    },
  }),
  call('speaks to the ports of the machine', 172, [3]),
  call('swaps to a file of its own', 167, [text('/nowhere'), 0], {
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 167, arguments: [text('/nowhere'), 0] }],
      through: ({ last }) => last === 'ENOENT' || last === 'done',
    },
  }),
  call('counts the processes of the machine into a file of its own', 163, [text('/nowhere')], {
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 163, arguments: [text('/nowhere')] }],
      through: ({ last }) => last === 'ENOENT' || last === 'done',
    },
  }),
  call('runs code of its own in the kernel', 321, [5, NOWHERE, 128], { kernelOnly: true }),
  call(
    'makes a map in the kernel',
    321,
    [0, { bytes: Buffer.concat([u32(1), u32(4), u32(4), u32(1), Buffer.alloc(112)]) }, 128],
    { kernelOnly: true },
  ),
  call(
    'measures the whole machine',
    298,
    [{ bytes: Buffer.concat([u32(1), u32(112), Buffer.alloc(104)]) }, -1, 0, -1, 0],
    { kernelOnly: true },
  ),
  call('sets up a ring for calls past the filter', 425, [1, { bytes: Buffer.alloc(120) }], { kernelOnly: true }),
  call('handles the page faults of the kernel', 323, [0], { kernelOnly: true }),
  call('watches all files of the machine', 300, [0, 0], { kernelOnly: true }),
  call('moves pages of memory between nodes', 279, [1, 0, 0, 0, 0, 0], { kernelOnly: true }),
  {
    name: 'makes a call through the gate for 32-bit programs, whose numbers differ',
    control: 'as root',
    kernelOnly: true,
    attempt: {
      kind: 'calls',
      // 26 is ptrace there: PTRACE_TRACEME.
      calls: () => [{ number: 26, arguments: [0, 0, 0, 0], as32Bit: true }],
    },
  },
  {
    name: 'makes a call by its x32 number, which a careless filter does not know',
    control: { because: 'few kernels have x32; refused by all others' },
    kernelOnly: true,
    attempt: { kind: 'calls', calls: () => [{ number: 0x40000000 + 521, arguments: [0, 0, 0, 0] }] },
  },
  {
    name: 'types into the terminal of whoever started the platform',
    control: { because: 'tests have no terminal; the suite checks that /dev/tty cannot be opened' },
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 16, arguments: [0, 0x5412, text('x')] }],
      through: ({ last }) => last === 'done',
    },
  },
  {
    name: 'leaves a file of shared memory for others of its user',
    control: { because: 'the neighbour looks for it: see the check after the attempts' },
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        code(() => fs.writeFileSync('/dev/shm/way-out', 'x', { mode: 0o666 }));
        return fs.existsSync('/dev/shm/of-the-neighbour') ? 'through' : 'refused';
      },
    },
  },
];

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function u64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}
