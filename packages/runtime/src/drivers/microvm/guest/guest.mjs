// Runs inside the virtual machine, in the workload's own process, before any of the workload's code (node --import):
// sets its environment and forwards connections from the host to PORT, even if it listens on loopback only.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { answerWhenListening, bridge, forgetOwnArguments } from './bootstrap.mjs';

const MARK = 'PLATFORM_BOOTSTRAP';

// Workers and forked children inherit `--import`; only the first process carries the mark.
if (isMainThread && process.env[MARK] === 'guest') {
  forgetOwnArguments();
  const order = JSON.parse(readFileSync('/run/order.json', 'utf8'));
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, order.environment);
  await serve(order.bridgePort, (socket) => bridge(socket, order.port));
  // Any number of times: of two attempts to ask, a slow guest may see both.
  await serve(order.questionPort, (socket) => answerWhenListening(socket, order.port));
  process.chdir('/app');

  /** Nothing of it keeps the process alive. */
  async function serve(port, take) {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.unref();
      socket.on('error', () => socket.destroy());
      take(socket);
    });
    server.unref();
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, order.address, resolve);
    });
    server.on('error', () => {});
  }
}
