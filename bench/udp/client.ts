// Clients of a UDP port: each socket keeps some datagrams under way, and sends the next when one is back. Prints one line of
// JSON: round trips a second, and the times of single ones.
import dgram from 'node:dgram';
import { once } from 'node:events';

const [host = '', port, sockets, underWay, milliseconds] = process.argv.slice(2);
const PAYLOAD_BYTES = 200;
/** What is not back by then was lost. */
const LOST = 500;

let back = 0;
const times: number[] = [];

async function openClient(): Promise<dgram.Socket> {
  const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.on('error', () => undefined);
  socket.connect(Number(port), host);
  await once(socket, 'connect');
  return socket;
}

/** One datagram under way at a time, of those of a socket. */
function keepOne(socket: dgram.Socket, number: number): void {
  let sentAt = 0;
  const datagram = Buffer.alloc(PAYLOAD_BYTES);
  datagram.writeUInt32BE(number, 0);
  const send = () => {
    sentAt = performance.now();
    socket.send(datagram);
  };
  socket.on('message', (answer) => {
    if (answer.readUInt32BE(0) !== number) return;
    back += 1;
    times.push(performance.now() - sentAt);
    send();
  });
  send();
  setInterval(() => {
    if (performance.now() - sentAt > LOST) send();
  }, LOST);
}

const open = await Promise.all(Array.from({ length: Number(sockets) }, openClient));
for (const socket of open) for (let number = 0; number < Number(underWay); number += 1) keepOne(socket, number);
// The first datagrams open the way.
await new Promise((resolve) => setTimeout(resolve, 1_500));
back = 0;
times.length = 0;
const began = performance.now();
await new Promise((resolve) => setTimeout(resolve, Number(milliseconds)));
const seconds = (performance.now() - began) / 1_000;
times.sort((one, other) => one - other);
const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
console.log(JSON.stringify({ perSecond: back / seconds, count: back, p50: at(0.5), p99: at(0.99) }));
process.exit();
