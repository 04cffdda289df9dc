// The Runtime's relay alone, into the network of a workload. Prints a line when it is open; a line on standard input asks
// for the processor time it has used so far, in microseconds.
import { createInterface } from 'node:readline';
import { makeSocketsIn } from '../src/network/namespace-sockets.ts';
import { openUdpRelay } from '../src/network/udp-relay.ts';

const [network = '', hostPort, containerPort] = process.argv.slice(2);

await openUdpRelay({
  address: '0.0.0.0',
  hostPort: Number(hostPort),
  containerAddress: '127.0.0.1',
  containerPort: Number(containerPort),
  makeSockets: (count) =>
    makeSocketsIn((command) => ['nsenter', `--net=${network}`, '--', ...command], '127.0.0.1', count),
});
console.log('ready');
for await (const _ of createInterface({ input: process.stdin })) {
  const { user, system } = process.cpuUsage();
  console.log(String(user + system));
}
