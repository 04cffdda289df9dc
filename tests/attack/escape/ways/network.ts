// Ways to hosts, to services of this machine, and to other installations, by connecting to them.
import type { Way } from '../way.ts';

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
];
