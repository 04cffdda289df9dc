// The far side of internet.sh: answers TCP, UDP and a little DNS on every address it is given, and counts who came.
import dgram from 'node:dgram';
import net from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const addresses = process.argv[2].split(',');
const seen = {};
const count = (address) => {
  seen[address] = (seen[address] ?? 0) + 1;
};

// The addresses appear while this is starting.
const here = () => Object.values(networkInterfaces()).flatMap((all) => all.map(({ address }) => address));
while (![...addresses, '5.6.7.2'].every((address) => here().includes(address))) await delay(5);

for (const address of addresses) {
  await listen(
    net.createServer((socket) => {
      count(address);
      socket.on('error', () => socket.destroy());
      socket.write(`${address} sees ${socket.remoteAddress}\n`);
      socket.on('data', () => {
        seen.lastByte = Date.now();
      });
      socket.pipe(socket);
    }),
    address,
    7000,
  );
  await receive(address, 7000, (message, reply) => {
    count(address);
    reply(message);
  });
  // Every name has the one address that is asked first.
  await receive(address, 53, (query, reply) => {
    count(`${address}:53`);
    const end = query.indexOf(0, 12) + 5;
    const isAddress = query.readUInt16BE(end - 4) === 1;
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, ...addresses[0].split('.').map(Number)]);
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isAddress ? 1 : 0, 6);
    head.writeUInt16BE(0, 8);
    head.writeUInt16BE(0, 10);
    reply(isAddress ? Buffer.concat([head, answer]) : head);
  });
}
await listen(
  net.createServer((socket) => socket.end(JSON.stringify(seen))),
  '5.6.7.2',
  7001,
);

function listen(server, host, port) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
}

async function receive(address, port, handle) {
  const socket = dgram.createSocket('udp4');
  socket.on('error', () => undefined);
  socket.on('message', (message, from) => handle(message, (answer) => socket.send(answer, from.port, from.address)));
  await new Promise((resolve) => socket.bind({ address, port }, resolve));
}
