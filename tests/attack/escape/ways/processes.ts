// Ways to other processes: their environment, memory, descriptors, and to their end.
import { text } from '../machine-code.ts';
import type { Way } from '../way.ts';

const PTRACE_ATTACH = 16;
/** An iovec: where the program itself lies, and nothing of most others. For no bytes the kernel looks for no process. */
const eightBytes = Buffer.from(new BigUint64Array([0x40_0000n, 8n]).buffer);

export const processWays: readonly Way[] = [
  {
    name: 'reads the environment of a process of the host',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs }, t) => {
        try {
          return fs.readFileSync(`/proc/${t.hostPid}/environ`, 'utf8').includes(t.hostCanary)
            ? 'through'
            : 'another process';
        } catch (error) {
          return String((error as NodeJS.ErrnoException).code);
        }
      },
    },
  },
  {
    name: 'finds a secret of the host in the environment or command line of any process that it sees',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs }, t) => {
        const holders = fs
          .readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .filter((pid) =>
            ['environ', 'cmdline', 'maps'].some((file) => {
              try {
                const found = fs.readFileSync(`/proc/${pid}/${file}`, 'latin1');
                return found.includes(t.hostCanary) || found.includes('pcs_');
              } catch {
                return false;
              }
            }),
          );
        return holders.length > 0 ? `through ${holders.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'signals a process of the host',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ code }, t) => {
        const outcome = code(() => process.kill(t.hostPid, 0));
        return outcome === 'done' ? 'through' : outcome;
      },
    },
  },
  {
    name: 'signals everything that it may signal',
    control: {
      because: 'outside it would reach the processes of others; that the sentinel lives is checked after all attempts',
    },
    attempt: {
      kind: 'code',
      // Signal 0 asks whether there is anybody.
      inside: ({ fs, code }, t) => {
        const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
        const seen = pids.filter((pid) => {
          try {
            return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('sentinel');
          } catch {
            return false;
          }
        });
        code(() => process.kill(-t.hostPid, 'SIGUSR1'));
        return seen.length > 0 ? `through ${seen.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'attaches to a process of the host as a debugger',
    control: 'as root',
    attempt: {
      kind: 'calls',
      calls: (t) => [{ number: 101, arguments: [PTRACE_ATTACH, t.hostPid, 0, 0] }],
    },
  },
  {
    name: 'attaches to the first process of its sandbox as a debugger',
    control: 'as root',
    kernelOnly: true,
    attempt: { kind: 'calls', calls: () => [{ number: 101, arguments: [PTRACE_ATTACH, 1, 0, 0] }] },
  },
  {
    name: 'has itself traced by its parent',
    control: 'as root',
    kernelOnly: true,
    attempt: { kind: 'calls', calls: () => [{ number: 101, arguments: [0, 0, 0, 0] }] },
  },
  {
    name: 'reads the memory of a process of the host',
    control: 'as root',
    attempt: {
      kind: 'calls',
      calls: (t) => [{ number: 310, arguments: [t.hostPid, { bytes: eightBytes }, 1, { bytes: eightBytes }, 1, 0] }],
    },
  },
  {
    name: 'writes the memory of a process of the host',
    control: 'as root',
    attempt: {
      kind: 'calls',
      calls: (t) => [{ number: 311, arguments: [t.hostPid, { bytes: eightBytes }, 1, { bytes: eightBytes }, 1, 0] }],
    },
  },
  {
    name: 'opens the memory of a process of the host as a file',
    control: 'as root',
    attempt: { kind: 'calls', calls: (t) => [{ number: 2, arguments: [text(`/proc/${t.hostPid}/mem`), 0, 0] }] },
  },
  {
    name: 'writes into the memory of a process of its sandbox that has more rights than itself',
    control: 'as the user',
    // In a machine of its own it may write into its own kind, which have no filter either.
    kernelOnly: true,
    attempt: {
      kind: 'code',
      // What it can write into, it can become: nothing is gained where the other has no more than itself.
      inside: ({ fs, code }) => {
        const rights = (pid: string) => {
          const lines = fs.readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
          return lines.filter((line) => /^(Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp):/.test(line)).join(' ');
        };
        const open = fs
          .readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .filter((pid) => code(() => fs.closeSync(fs.openSync(`/proc/${pid}/mem`, 'r+'))) === 'done')
          .map((pid) => ({ pid, rights: rights(pid) }));
        const own = rights('self');
        const better = open.find((other) => other.rights !== own || !/Seccomp:\t2/.test(other.rights));
        return better === undefined ? 'refused' : `through ${better.pid} ${better.rights}`;
      },
    },
  },
  {
    name: 'takes a descriptor out of a process of the host',
    control: 'as root',
    attempt: {
      kind: 'calls',
      calls: (t) => [
        { number: 434, arguments: [t.hostPid, 0] },
        { number: 438, arguments: [{ resultOf: 0 }, 1, 0] },
      ],
      through: ({ results }) => (results[0] ?? -1) >= 0,
    },
  },
  {
    name: 'signals a process of the host through its descriptor',
    control: 'as the user',
    attempt: {
      kind: 'calls',
      calls: (t) => [
        { number: 434, arguments: [t.hostPid, 0] },
        { number: 424, arguments: [{ resultOf: 0 }, 0, 0, 0] },
      ],
      through: ({ results }) => (results[0] ?? -1) >= 0,
    },
  },
  {
    name: 'compares its kernel objects with those of a process of the host',
    control: 'as root',
    attempt: { kind: 'calls', calls: (t) => [{ number: 312, arguments: [t.hostPid, t.hostPid, 1, 0, 0] }] },
  },
  {
    name: 'changes the limits of a process of the host',
    control: 'as the user',
    attempt: {
      kind: 'calls',
      calls: (t) => [{ number: 302, arguments: [t.hostPid, 7, 0, { bytes: Buffer.alloc(16) }] }],
    },
  },
  {
    name: 'changes the priority of a process of the host',
    control: 'as the user',
    attempt: { kind: 'calls', calls: (t) => [{ number: 140, arguments: [0, t.hostPid] }] },
  },
  {
    name: 'takes real-time priority over everybody else',
    control: 'as root',
    attempt: { kind: 'calls', calls: () => [{ number: 144, arguments: [0, 1, { bytes: Buffer.from([1, 0, 0, 0]) }] }] },
  },
  {
    name: 'keeps a descriptor of the platform: a file, a socket, a directory of the host',
    control: { because: 'descriptorsOf in suite.test.ts recognises such a descriptor in a process that has one' },
    // Whatever it holds in a machine of its own is that machine's: its outputs are pipes with names there.
    kernelOnly: true,
    attempt: {
      kind: 'code',
      inside: ({ fs }) => {
        const held = fs.readdirSync('/proc/self/fd').flatMap((name) => {
          try {
            return [fs.readlinkSync(`/proc/self/fd/${name}`)];
          } catch {
            return [];
          }
        });
        const strange = held.filter(
          (target) =>
            !/^(anon_inode:|pipe:|socket:|\/dev\/(null|urandom)$|\/proc\/|\/dev\/pts\/|.*\/dev\/null)/.test(target),
        );
        return strange.length > 0 ? `through ${strange.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'enters the namespaces of the first process or of a process of the host',
    control: 'as root',
    attempt: {
      kind: 'calls',
      calls: () => [
        { number: 2, arguments: [text('/proc/1/ns/uts'), 0, 0] },
        { number: 308, arguments: [{ resultOf: 0 }, 0] },
      ],
      through: ({ last }) => last === 'done',
    },
  },
  {
    name: 'opens the namespaces of a process of the host',
    control: 'as the user',
    attempt: { kind: 'calls', calls: (t) => [{ number: 2, arguments: [text(`/proc/${t.hostPid}/ns/net`), 0, 0] }] },
  },
  {
    name: 'shares memory with another installation through System V keys',
    control: { because: 'the neighbour, which made the segment, finds it by the same call before the attempts' },
    attempt: { kind: 'calls', calls: (t) => [{ number: 29, arguments: [t.neighbourSharedMemoryKey, 0, 0] }] },
  },
  {
    name: 'joins the keys of its user or of the session',
    control: 'as root',
    kernelOnly: true,
    attempt: { kind: 'calls', calls: () => [{ number: 250, arguments: [0, -4, 1] }] },
  },
  {
    name: 'leaves a key for others of its user',
    control: 'as root',
    kernelOnly: true,
    attempt: {
      kind: 'calls',
      calls: () => [{ number: 248, arguments: [text('user'), text('platform-escape'), text('x'), 1, -3] }],
    },
  },
  {
    name: 'sends a signal to the group of the Runtime',
    control: 'as the user',
    attempt: { kind: 'calls', calls: (t) => [{ number: 62, arguments: [-t.hostPid, 0] }] },
  },
];
