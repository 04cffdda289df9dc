// Runs once at start in a network made for it: connects to a port on the given addresses and says whether each refused.
import net from 'node:net';

const [port, ...hosts] = process.argv.slice(2);
const PATIENCE = 3_000;

const outcomes = await Promise.all(
  hosts.map(
    (host) =>
      new Promise((resolve) => {
        const socket = net.connect({ host, port: Number(port) });
        const timer = setTimeout(() => socket.destroy(new Error('silence')), PATIENCE);
        socket.once('connect', () => socket.destroy(new Error('connected')));
        socket.once('error', (error) => {
          clearTimeout(timer);
          resolve(error.code === 'ECONNREFUSED' ? undefined : `${host} ${error.code ?? error.message}`);
        });
      }),
  ),
);
console.log(outcomes.filter(Boolean).join(', ') || 'refused everywhere');
