// What strangers whose addresses are made up, and apps that answer them without end, can do to the process of all relays.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { namespacesUnavailable } from '../../../../tests/support/network-namespaces.ts';
import { inOwnNetwork } from '../../../../tests/support/own-network.ts';
import { until } from '../../../../tests/support/wait.ts';
import { openUdpRelay } from './udp-relay.ts';

async function bound(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4');
  socket.on('error', () => undefined);
  socket.bind({ address: '127.0.0.1', port: 0 });
  await once(socket, 'listening');
  return socket;
}

interface Relayed {
  readonly hostPort: number;
  /** Datagrams that reached the workload. */
  readonly received: readonly string[];
}

/** A workload behind a relay. */
async function relayed(
  context: TestContext,
  onDatagram: (workload: dgram.Socket, data: Buffer, from: dgram.RemoteInfo) => void,
): Promise<Relayed> {
  const [workload, free] = [await bound(), await bound()];
  const hostPort = free.address().port;
  await new Promise<void>((resolve) => free.close(() => resolve()));
  const received: string[] = [];
  workload.on('message', (data, from) => {
    received.push(data.toString('latin1', 0, 16));
    onDatagram(workload, data, from);
  });
  const relay = await openUdpRelay({
    address: '0.0.0.0',
    hostPort,
    containerAddress: '127.0.0.1',
    containerPort: workload.address().port,
    makeSockets: (count) => Promise.all(Array.from({ length: count }, bound)),
  });
  context.after(() => {
    relay.close();
    workload.close();
  });
  return { hostPort, received };
}

const echoed = (context: TestContext) =>
  relayed(context, (workload, data, { port, address }) => workload.send(data, port, address));

async function sender(context: TestContext): Promise<dgram.Socket> {
  const socket = await bound();
  context.after(() => socket.close());
  return socket;
}

/** Once it was answered, everything that was sent before has been looked at. */
async function isServed(context: TestContext, hostPort: number): Promise<void> {
  const honest = await sender(context);
  const answered = once(honest, 'message');
  honest.send('honest', hostPort, '127.0.0.1');
  assert.equal(String((await answered)[0]), 'honest');
}

/** Datagrams to this port arrive with another source than they were sent from. */
function spoof(hostPort: number, statement: string): void {
  execFileSync('nft', ['add table ip spoof']);
  execFileSync('nft', ['add chain ip spoof in { type filter hook input priority 0; }']);
  execFileSync('nft', [`add rule ip spoof in udp dport ${hostPort} ${statement}`]);
}

inOwnNetwork(import.meta.url, { skip: namespacesUnavailable(), timeout: 300_000 }, () => {
  for (const [what, statement] of [
    ['port 0', 'udp sport set 0'],
    ['an address that nothing can be sent to', 'ip saddr set 0.0.0.0'],
    ['a broadcast address', 'ip saddr set 255.255.255.255'],
    ['a multicast address', 'ip saddr set 224.0.0.1'],
    ['a network that cannot be reached', 'ip saddr set 203.0.113.9'],
  ]) {
    test(`a datagram that comes from ${what} ends nothing`, async (context) => {
      const { hostPort } = await echoed(context);
      const stranger = await sender(context);
      spoof(hostPort, `udp sport ${stranger.address().port} ${statement}`);
      stranger.send('spoofed', hostPort, '127.0.0.1');
      await isServed(context, hostPort);
    });
  }

  test('a datagram that comes from another relay of this machine, or from the same, starts no answers without end', async (context) => {
    const [one, other] = [await echoed(context), await echoed(context)];
    const stranger = await sender(context);
    for (const from of [one, other])
      spoof(
        one.hostPort,
        `udp sport ${stranger.address().port} udp length ${8 + from.hostPort.toString().length} udp sport set ${from.hostPort}`,
      );
    for (const from of [one, other]) stranger.send(from.hostPort.toString(), one.hostPort, '127.0.0.1');
    await isServed(context, one.hostPort);
    await isServed(context, other.hostPort);
    assert.deepEqual(one.received, ['honest']);
    assert.deepEqual(other.received, ['honest']);
  });

  test('answers that a slow line does not take are lost, and held by nobody', async (context) => {
    const ip = (...args: string[]) => execFileSync('ip', args);
    ip('link', 'add', 'slow', 'type', 'veth', 'peer', 'name', 'far');
    ip('address', 'add', '10.9.9.1/24', 'dev', 'slow');
    for (const device of ['far', 'slow']) ip('link', 'set', device, 'up');
    ip('neighbour', 'add', '10.9.9.2', 'lladdr', '02:00:00:00:00:02', 'dev', 'slow');
    execFileSync('tc', 'qdisc add dev slow root tbf rate 8kbit burst 16kb limit 100mb'.split(' '));
    const answer = Buffer.alloc(8_000, 'x');
    let answered = 0;
    const { hostPort, received } = await relayed(context, (workload, data, { port, address }) => {
      if (String(data) === 'last') return;
      const next = () => {
        if (answered >= 40_000) return;
        // As many as a socket holds, so that each comes to the relay.
        answered += 8;
        for (let turn = 0; turn < 8; turn += 1) workload.send(answer, port, address);
        setImmediate(next);
      };
      next();
    });
    const stranger = await sender(context);
    spoof(hostPort, `udp sport ${stranger.address().port} ip saddr set 10.9.9.2`);
    const before = process.memoryUsage.rss();
    stranger.send('more', hostPort, '127.0.0.1');
    await until('all to be answered', () => answered >= 40_000, 60_000);
    stranger.send('last', hostPort, '127.0.0.1');
    await until('the relay to have come so far', () => received.includes('last'), 20_000);
    const held = process.memoryUsage.rss() - before;
    assert.ok(held < 150 * 1_048_576, `${Math.round(held / 1_048_576)} MiB are held of ${(answered * 8_000) / 1e6} MB`);
  });
});
