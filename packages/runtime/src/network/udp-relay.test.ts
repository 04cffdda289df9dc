// What a flood from ever new senders costs: a program is started for their sockets, and only so often.
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import { BETWEEN_BATCHES, openUdpRelay } from './udp-relay.ts';

async function bound(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4');
  socket.on('error', () => undefined);
  socket.bind({ address: '127.0.0.1', port: 0 });
  await once(socket, 'listening');
  return socket;
}

test('a flood from ever new senders makes sockets a few times a second, whatever it sends', async (context) => {
  const [workload, free] = [await bound(), await bound()];
  const hostPort = free.address().port;
  await new Promise<void>((resolve) => free.close(() => resolve()));
  const made: number[] = [];
  const relay = await openUdpRelay({
    address: '127.0.0.1',
    hostPort,
    containerAddress: '127.0.0.1',
    containerPort: workload.address().port,
    makeSockets(count) {
      made.push(performance.now());
      return Promise.all(Array.from({ length: count }, bound));
    },
  });
  const senders: dgram.Socket[] = [];
  context.after(() => {
    relay.close();
    for (const socket of [workload, ...senders]) socket.close();
  });
  await until('sockets to be made four times', async () => {
    const fresh = await Promise.all(Array.from({ length: 40 }, bound));
    senders.push(...fresh);
    for (const sender of fresh) sender.send('hello', hostPort, '127.0.0.1');
    return made.length >= 4;
  });
  const [first = 0, , , fourth = 0] = made;
  // Timers may fire a millisecond early.
  assert.ok(fourth - first >= 3 * BETWEEN_BATCHES - 5, `four batches within ${fourth - first} ms`);
});
