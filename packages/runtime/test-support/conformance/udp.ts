// Public UDP ports: datagrams in and the answers to their senders out, closed at once, and no other way through them. A
// driver that cannot publish any says so, and then none is open.
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import type { UdpBinding } from '../../src/drivers/driver.ts';
import type { Started } from './bench.ts';
import type { Suite } from './suite.ts';

const HOST = '127.0.0.1';
const INSIDE = 9_000;

export function udpBehaviour({ under, bench, subject, neighbour }: Suite): void {
  if (under.can.publishesUdp !== true) {
    test('a UDP port that cannot be published is said to be missing, and is not open', async (t) => {
      const binding = await freeBinding();
      const closed = await subject().instance.publishUdp([binding]);
      t.after(() => subject().instance.publishUdp([]));
      assert.match(closed.get(binding.name) ?? '', /^[A-Z].+\.$/);
      assert.ok(await isFree(binding.hostPort), 'nothing listens on it');
    });
    return;
  }

  test('a UDP port carries datagrams to the workload, and its answers to each sender', async (t) => {
    const { binding } = await published(t, subject());
    const [one, other] = [await client(t, binding), await client(t, binding)];
    assert.equal(await one.ask('one'), 'echo one');
    assert.equal(await other.ask('other'), 'echo other');
    assert.equal(await one.ask('x'.repeat(1_400)), `echo ${'x'.repeat(1_400)}`);
    assert.deepEqual(subject().instance.shortfalls(), []);
  });

  test('a UDP port that is taken away closes at once in both directions, while the workload runs on', async (t) => {
    const { binding, received, sendAgain } = await published(t, subject());
    const former = await client(t, binding);
    await former.ask('before');
    await subject().instance.publishUdp([]);
    assert.ok(await isFree(binding.hostPort), 'nothing listens on it');
    const [before, answers] = [await received(), former.answers()];
    former.send('after');
    await sendAgain();
    assert.equal(await received(), before);
    assert.equal(former.answers(), answers);
    await subject().instance.publishUdp([binding]);
    assert.equal(await (await client(t, binding)).ask('again'), 'echo again');
  });

  test('a UDP port gives no way out, and leads to no other workload', async (t) => {
    const { binding } = await published(t, subject());
    await (await client(t, binding)).ask('open');
    const stranger = dgram.createSocket('udp4');
    const received: string[] = [];
    stranger.on('message', (message) => received.push(String(message)));
    stranger.bind({ address: HOST, port: 0 });
    await once(stranger, 'listening');
    t.after(() => stranger.close());
    const { port } = stranger.address();
    const send = async ({ dgram: udp }: { dgram: typeof dgram }, ports: number[]) => {
      const socket = udp.createSocket('udp4');
      socket.on('error', () => undefined);
      for (const to of ports) await new Promise((resolve) => socket.send('from inside', to, '127.0.0.1', resolve));
      socket.close();
    };
    await subject().run(send, [port, binding.hostPort]);
    await neighbour().run(send, [port, binding.hostPort, INSIDE]);
    const own = dgram.createSocket('udp4');
    t.after(() => own.close());
    const arrived = once(stranger, 'message');
    own.send('last', port, HOST);
    await arrived;
    assert.deepEqual(received, ['last']);
    assert.equal(await (await client(t, binding)).ask('still'), 'echo still');
  });

  test('a UDP port of this machine that is taken is said to be missing, and the others are published', async (t) => {
    const squatter = dgram.createSocket('udp4');
    squatter.bind({ address: HOST, port: 0, exclusive: true });
    await once(squatter, 'listening');
    t.after(() => squatter.close());
    const taken: UdpBinding = { ...(await freeBinding()), name: 'taken', hostPort: squatter.address().port };
    const { binding, closed } = await published(t, subject(), [taken]);
    assert.deepEqual([...closed.keys()], ['taken']);
    assert.match(closed.get('taken') ?? '', new RegExp(`^Port ${taken.hostPort} of this machine is taken by another`));
    assert.equal(await (await client(t, binding)).ask('other'), 'echo other');
  });

  test('UDP ports end with their workload', async () => {
    const started = await bench().start();
    const binding = await freeBinding();
    await started.instance.publishUdp([binding]);
    assert.equal(await isFree(binding.hostPort), false);
    await started.stop(0);
    assert.ok(await isFree(binding.hostPort));
  });

  /** Publishes a port on which the workload echoes, until the test is over. */
  async function published(t: TestContext, started: Started, more: readonly UdpBinding[] = []) {
    const binding = await freeBinding();
    await started.run(async ({ dgram: udp }, port) => {
      const socket = udp.createSocket('udp4');
      const echo = { socket, received: 0, last: { port: 0, address: '' } };
      socket.on('message', (message, from) => {
        echo.received += 1;
        echo.last = from;
        socket.send(`echo ${message}`, from.port, from.address);
      });
      await new Promise<void>((resolve) => socket.bind(port, resolve));
      Object.assign(globalThis, { echo });
    }, INSIDE);
    t.after(async () => {
      await started.instance.publishUdp([]);
      await started.run(() => void (globalThis as unknown as Inside).echo.socket.close());
    });
    return {
      binding,
      closed: await started.instance.publishUdp([binding, ...more]),
      received: () => started.run(() => (globalThis as unknown as Inside).echo.received),
      /** The workload writes once more to its last sender. */
      sendAgain: () =>
        started.run(
          () =>
            new Promise<void>((resolve) => {
              const { socket, last } = (globalThis as unknown as Inside).echo;
              socket.send('unasked', last.port, last.address, () => resolve());
            }),
        ),
    };
  }

  interface Client {
    /** Sends until it is answered: a datagram may be lost, and the first may come before the port is open. */
    ask(text: string): Promise<string>;
    send(text: string): void;
    /** How many answers came. */
    answers(): number;
  }

  async function client(t: TestContext, { hostPort }: UdpBinding): Promise<Client> {
    const socket = dgram.createSocket('udp4');
    t.after(() => socket.close());
    const answers: string[] = [];
    socket.on('error', () => undefined);
    socket.on('message', (message) => answers.push(String(message)));
    await new Promise<void>((resolve) => socket.connect(hostPort, HOST, () => resolve()));
    return {
      send: (text) => socket.send(text),
      answers: () => answers.length,
      ask: (text) =>
        until(
          `an answer to ${text.slice(0, 20)}`,
          () => {
            const answer = answers.find((one) => one.endsWith(text));
            if (answer === undefined) socket.send(text);
            return answer;
          },
          bench().limit(20_000),
        ),
    };
  }
}

/** What `published` keeps inside the workload. */
interface Inside {
  readonly echo: {
    readonly socket: dgram.Socket;
    readonly received: number;
    readonly last: { readonly port: number; readonly address: string };
  };
}

async function freeBinding(): Promise<UdpBinding> {
  const socket = dgram.createSocket('udp4');
  socket.bind({ address: HOST, port: 0 });
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return { name: 'echo', hostAddress: HOST, hostPort: port, containerPort: INSIDE };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = dgram.createSocket('udp4');
    probe.once('error', () => resolve(false));
    probe.bind({ address: HOST, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
