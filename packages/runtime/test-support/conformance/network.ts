// A workload reaches its Gateway and nothing else: every way out is tried, and tried outside too, where it works.
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { portOf } from '../port-of.ts';
import type { Suite } from './suite.ts';

/** Places that must never answer. None of them is a host of anybody: special-purpose ranges. */
const ELSEWHERE = [
  '169.254.169.254',
  '198.51.100.7',
  '203.0.113.9',
  '10.0.0.1',
  '100.64.0.1',
  '224.0.0.1',
  '2001:db8::1',
];

export function networkBehaviour({ bench, subject, neighbour }: Suite): void {
  test('a workload reaches core through its Gateway, which shows the credential of this start', async () => {
    const { core } = bench();
    const answer = await subject().run(({ gateway }) => gateway('/v1/services/apps'));
    assert.deepEqual(answer, { status: 200, text: 'core answered' });
    const { target, authorization } = core.seen.at(-1) ?? {};
    assert.equal(target, 'GET /v1/services/apps');
    assert.equal(authorization, `Bearer ${subject().coreServiceCredential}`);
  });

  test('a Gateway refuses the credential of another installation, and anything but services', async () => {
    const { core } = bench();
    const before = core.seen.length;
    const seen = await subject().run(
      async ({ gateway }, stolen) => [
        (await gateway('/v1/services/apps', stolen)).status,
        (await gateway('/v1/services/apps', '')).status,
        (await gateway('/v1/node/assignments')).status,
        (await gateway('/v1/apps')).status,
      ],
      neighbour().gatewayCredential,
    );
    assert.deepEqual(seen, [401, 401, 404, 404]);
    assert.equal(core.seen.length, before);
  });

  test('a workload reaches no service of the host, on no address, core included', async (t) => {
    const serve = () => net.createServer((socket) => socket.on('error', () => undefined).end('host'));
    const [service, abstract, file] = [serve(), serve(), serve()];
    const name = `\0platform-conformance-${process.pid}`;
    const path = join(bench().place.folder, 'host.sock');
    service.listen(0);
    abstract.listen(name);
    file.listen(path);
    await Promise.all([service, abstract, file].map((server) => once(server, 'listening')));
    t.after(() => Promise.all([service, abstract, file].map((server) => server.close())));
    const ports = [portOf(service), bench().core.port];
    const targets: net.NetConnectOpts[] = [
      ...hostAddresses().flatMap((host) => ports.map((port) => ({ host, port }))),
      { path: name },
      { path },
    ];
    for (const target of targets) assert.equal(await connectOutside(target), 'connected', JSON.stringify(target));
    const seen = await subject().run(
      async ({ connect }, all) => Promise.all(all.map((target) => connect(target))),
      targets,
    );
    assert.deepEqual(
      seen.flatMap((outcome, index) => (outcome === 'connected' ? [targets[index]] : [])),
      [],
    );
  });

  test('a workload reaches no other address: metadata, private, public, by TCP, UDP or name', async () => {
    const seen = await subject().run(async ({ connect, dgram: udp, dns }, addresses) => {
      const sendTo = (address: string, port: number) =>
        new Promise<string>((resolve) => {
          const socket = udp.createSocket(address.includes(':') ? 'udp6' : 'udp4');
          const finish = (outcome: string) => {
            socket.close();
            resolve(outcome);
          };
          socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'error'));
          socket.once('message', () => finish('answered'));
          socket.send('x', port, address, (error) => {
            if (error !== null) finish((error as NodeJS.ErrnoException).code ?? 'error');
            else setTimeout(finish, 500, 'silence');
          });
        });
      const lookup = (action: () => Promise<unknown>) =>
        action().then(
          () => 'found',
          (error) => error.code,
        );
      return {
        tcp: await Promise.all(addresses.map((host) => connect({ host, port: 80 }, 2_000))),
        udp: await Promise.all(addresses.map((host) => sendTo(host, 53))),
        lookup: await lookup(() => dns.lookup('platform.example')),
        resolve: await lookup(() => dns.resolve4('platform.example')),
      };
    }, ELSEWHERE);
    for (const [index, outcome] of seen.tcp.entries()) assert.notEqual(outcome, 'connected', ELSEWHERE[index]);
    for (const [index, outcome] of seen.udp.entries()) assert.notEqual(outcome, 'answered', ELSEWHERE[index]);
    assert.notEqual(seen.lookup, 'found');
    assert.notEqual(seen.resolve, 'found');
  });

  test('a datagram to the host arrives nowhere', async (t) => {
    const received: string[] = [];
    const socket = dgram.createSocket('udp4', (message) => received.push(message.toString()));
    socket.bind(0);
    await once(socket, 'listening');
    t.after(() => socket.close());
    const { port } = socket.address();
    const addresses = hostAddresses().filter((address) => !address.includes(':'));
    const send = async (text: string) => {
      const sender = dgram.createSocket('udp4');
      await new Promise((resolve) => sender.send(text, port, '127.0.0.1', resolve));
      sender.close();
    };
    const arrived = once(socket, 'message');
    await send('first');
    await arrived;
    await subject().run(
      async ({ dgram: udp }, all, to) => {
        const sender = udp.createSocket('udp4');
        sender.on('error', () => undefined);
        for (const address of all) await new Promise((resolve) => sender.send('from inside', to, address, resolve));
        sender.close();
      },
      addresses,
      port,
    );
    const last = once(socket, 'message');
    await send('last');
    await last;
    assert.deepEqual(received, ['first', 'last']);
  });

  test('a workload reaches no port, socket or Gateway of its neighbour', async () => {
    const name = `\0neighbour-${process.pid}`;
    const there = await neighbour().run(async ({ net: tcp, os: system }, abstract) => {
      const server = tcp.createServer((socket) => socket.end());
      await new Promise<void>((resolve) => server.listen(0, () => resolve()));
      const hidden = tcp.createServer((socket) => socket.end());
      await new Promise<void>((resolve) => hidden.listen(abstract, () => resolve()));
      const address = server.address();
      return {
        port: typeof address === 'object' && address !== null ? address.port : 0,
        addresses: Object.values(system.networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address)),
        gateway: new URL(process.env.PLATFORM_API_URL ?? '').hostname,
      };
    }, name);
    const own = await neighbour().run(({ connect }, port) => connect({ host: '127.0.0.1', port }), there.port);
    assert.equal(own, 'connected');
    const targets: net.NetConnectOpts[] = [
      ...there.addresses.map((host) => ({ host: host.split('%')[0] ?? host, port: there.port })),
      { path: name },
    ];
    // On loopback the same address is a Gateway of its own.
    if (!there.gateway.startsWith('127.')) targets.push({ host: there.gateway, port: there.port });
    const seen = await subject().run(
      async ({ connect }, all) => Promise.all(all.map((target) => connect(target))),
      targets,
    );
    assert.deepEqual(
      seen.filter((outcome) => outcome === 'connected'),
      [],
    );
  });

  test('a workload can make no raw, packet or hypervisor socket', async () => {
    const families = {
      raw: [2, 3, 1],
      rawIp: [2, 3, 255],
      packet: [17, 3, 768],
      packetDatagram: [17, 2, 768],
      vsock: [40, 1, 0],
    };
    const seen = await subject().run(({ childProcess }, all) => {
      const perl = (script: string, args: readonly number[]) =>
        childProcess.spawnSync('perl', ['-e', script, ...args.map(String)], { encoding: 'utf8' });
      const attempt = (args: readonly number[]) =>
        perl('exit(socket(my $s, $ARGV[0], $ARGV[1], $ARGV[2]) ? 0 : 7)', args).status;
      return {
        works: attempt([2, 1, 0]),
        ...Object.fromEntries(Object.entries(all).map(([key, args]) => [key, attempt(args)])),
      };
    }, families);
    const { works, ...outcomes } = seen;
    // Without Perl inside there is nothing to try it with, and nothing for a workload either.
    if (works !== null) assert.equal(works, 0);
    for (const [family, status] of Object.entries(outcomes)) assert.notEqual(status, 0, family);
  });
}

/** Every address of this machine, without those that need an interface's name. */
function hostAddresses(): string[] {
  return Object.values(os.networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ address }) => (address.startsWith('fe80:') ? [] : [address])),
  );
}

function connectOutside(target: net.NetConnectOpts): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(target);
    socket.once('connect', () => {
      socket.destroy();
      resolve('connected');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  });
}
