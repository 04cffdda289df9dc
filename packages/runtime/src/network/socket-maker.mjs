// Runs for a moment in the network namespace of a workload: opens UDP sockets there and hands them to the Runtime. A
// socket stays in the network it was made in, so the Runtime talks to the workload through them from outside.
import dgram from 'node:dgram';

const count = Number(process.argv[2]);
const address = process.argv[3];

for (let made = 0; made < count; made += 1) {
  const socket = dgram.createSocket('udp4');
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address, port: 0, exclusive: true }, resolve);
  });
  await new Promise((resolve, reject) => {
    process.send({ made }, socket, (error) => (error === null ? resolve() : reject(error)));
  });
  socket.close();
}
process.disconnect();
