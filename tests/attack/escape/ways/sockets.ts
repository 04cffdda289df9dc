// Ways through kinds of sockets that an app has no use for: raw, packet, vsock, netlink, and those of the kernel itself.
import { type Call, text } from '../machine-code.ts';
import type { Way } from '../way.ts';

const AF_UNIX = 1;
const AF_INET = 2;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;

function socket(name: string, family: number, type: number, protocol: number, more: Partial<Way> = {}): Way {
  const calls = (): Call[] => [{ number: 41, arguments: [family, type, protocol] }];
  return { name, control: 'as root', attempt: { kind: 'calls', calls }, ...more };
}

export const socketWays: readonly Way[] = [
  socket('makes a raw socket, to read and forge ICMP', AF_INET, SOCK_RAW, 1),
  socket('makes a raw socket, to write headers with a source of its choice', AF_INET, SOCK_RAW, 255),
  socket('makes a packet socket, to read and forge frames', 17, SOCK_RAW, 0x0300),
  {
    name: 'reaches the machine or the hypervisor over vsock',
    control: { because: 'whether this machine has vsock differs; the family is refused before it is looked for' },
    attempt: {
      kind: 'calls',
      calls: () => {
        const cid2 = Buffer.alloc(16);
        cid2.writeUInt16LE(40, 0);
        cid2.writeUInt32LE(22, 4);
        cid2.writeUInt32LE(2, 8);
        return [
          { number: 41, arguments: [40, SOCK_STREAM, 0] },
          { number: 42, arguments: [{ resultOf: 0 }, { bytes: cid2 }, 16] },
        ];
      },
      through: ({ last }) => last === 'done',
    },
  },
  socket("makes a socket of the kernel's own ciphers, a frequent hole", 38, 5, 0, {
    kernelOnly: true,
    control: 'as the user',
  }),
  {
    name: 'changes its network devices over netlink',
    control: 'as root',
    withTunnel: /^done /,
    attempt: {
      kind: 'calls',
      // RTM_SETLINK: takes device 1, which is loopback, up, as it is already.
      calls: () => {
        const message = Buffer.alloc(32);
        message.writeUInt32LE(32, 0);
        message.writeUInt16LE(16, 4);
        message.writeUInt16LE(5, 6);
        message.writeUInt32LE(1, 20);
        message.writeUInt32LE(1, 24);
        message.writeUInt32LE(1, 28);
        return [
          { number: 41, arguments: [AF_NETLINK, SOCK_RAW, 0] },
          { number: 44, arguments: [{ resultOf: 0 }, { bytes: message }, 32, 0, 0, 0] },
          { number: 45, arguments: [{ resultOf: 0 }, { bytes: Buffer.alloc(64) }, 64, 0, 0, 0] },
        ];
      },
      // The answer is NLMSG_ERROR, whose error is 0 when it was done.
      through: ({ results, memory }) =>
        (results[2] ?? -1) > 0 && memory.readUInt16LE(32 + 4) === 2 && memory.readInt32LE(32 + 16) === 0,
    },
  },
  {
    name: 'speaks to the audit log of the kernel over netlink',
    control: { because: 'only root of the whole machine may, outside of all namespaces' },
    kernelOnly: true,
    attempt: {
      kind: 'calls',
      calls: () => {
        const message = Buffer.alloc(16);
        message.writeUInt32LE(16, 0);
        message.writeUInt16LE(1000, 4);
        message.writeUInt16LE(5, 6);
        return [
          { number: 41, arguments: [AF_NETLINK, SOCK_RAW, 9] },
          { number: 44, arguments: [{ resultOf: 0 }, { bytes: message }, 16, 0, 0, 0] },
          { number: 45, arguments: [{ resultOf: 0 }, { bytes: Buffer.alloc(64) }, 64, 0x40, 0, 0] },
        ];
      },
      through: ({ results, memory }) => (results[2] ?? -1) > 0 && memory.readInt32LE(16 + 16) === 0,
    },
  },
  {
    name: 'connects over a Unix socket pair to a descriptor of the platform that it was never given',
    control: { because: 'the attempt proves itself: its own pair answers' },
    attempt: {
      kind: 'calls',
      calls: () => [
        { number: 53, arguments: [AF_UNIX, SOCK_DGRAM, 0, { bytes: Buffer.alloc(8) }] },
        { number: 42, arguments: [3, text(''), 0] },
      ],
      through: ({ results }) => (results[1] ?? 0) >= 0,
    },
  },
];
