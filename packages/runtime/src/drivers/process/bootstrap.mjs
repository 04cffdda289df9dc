// Runs inside the sandbox, in the workload's own process, before any of the workload's code (node --import).
// It makes the Gateway's listener in the sandbox's network, hands it to the Runtime, bridges inbound connections to
// PORT, and then closes the channel to the Runtime, so the workload never has it.
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';

const MARK = 'PLATFORM_BOOTSTRAP';
const LOOPBACK = '127.0.0.1';

// Workers and forked children inherit `--import`; only the first process carries the mark.
if (isMainThread && process.env[MARK] === '1') {
  delete process.env[MARK];
  forgetOwnArguments();
  // As in containers and virtual machines: the platform's own, which lets nobody else read, is no business of an app's.
  process.umask(0o022);
  await handOver();
}

/** A forked child or a cluster worker copies execArgv; it must not run this file a second time. */
export function forgetOwnArguments() {
  const index = process.execArgv.indexOf('--import');
  if (index >= 0) process.execArgv.splice(index, 2);
}

async function listenOn(port) {
  const listener = net.createServer();
  await new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, LOOPBACK, resolve);
  });
  return listener;
}

function addUrls(urls, listener) {
  const origin = `http://${LOOPBACK}:${listener.address().port}`;
  for (const [name, path] of Object.entries(urls)) process.env[name] = origin + path;
}

async function give(listener) {
  await new Promise((resolve) => process.send({ kind: 'gateway-listener' }, listener, resolve));
  // Our copy closes as soon as the Runtime has its own, or this process would compete for the connections.
  await new Promise((resolve) => listener.close(resolve));
}

async function handOver() {
  let released = false;
  const gone = new Promise((resolve) => {
    process.once('disconnect', () => (released ? resolve() : process.exit(70)));
  });

  const { order, inbound } = await new Promise((resolve) => {
    process.once('message', (message, handle) => resolve({ order: message, inbound: handle }));
  });
  const gateway = await listenOn(order.gatewayPort);
  const storage = order.storagePort === null ? undefined : await listenOn(order.storagePort);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, order.environment);
  addUrls(order.gatewayUrls, gateway);
  if (storage !== undefined) addUrls(order.storageUrls, storage);
  bridgeInbound(inbound, order.port);

  const leave = new Promise((resolve) => {
    process.once('message', () => {
      released = true;
      resolve();
    });
  });
  await give(gateway);
  if (storage !== undefined) await give(storage);
  await leave;
  await gone;
  delete process.send;
  delete process.disconnect;
  process.chdir(order.directory);
}

/**
 * Pipes each connection of the inbound socket to PORT. The first connection is the Runtime's question whether the
 * workload listens: it is answered with one byte when PORT accepts. Nothing here keeps the process alive.
 */
function bridgeInbound(server, port) {
  let probed = false;
  server.allowHalfOpen = true;
  server.unref();
  // A workload that has used up its descriptors accepts no connections until it has some again.
  server.on('error', () => {});
  server.on('connection', (socket) => {
    socket.unref();
    socket.on('error', () => socket.destroy());
    if (probed) return bridge(socket, port);
    probed = true;
    answerWhenListening(socket, port);
  });
}

export function bridge(socket, port) {
  const target = net.connect({ port, host: LOOPBACK, allowHalfOpen: true, noDelay: true });
  target.unref();
  target.on('error', () => socket.destroy());
  socket.on('close', () => target.destroy());
  target.on('close', () => socket.destroy());
  socket.pipe(target);
  target.pipe(socket);
}

export function answerWhenListening(socket, port) {
  const begun = performance.now();
  const attempt = () => {
    if (socket.destroyed) return;
    const target = net.connect({ port, host: LOOPBACK });
    target.unref();
    const again = () => {
      const waited = performance.now() - begun;
      setTimeout(attempt, waited < 1000 ? 2 : 25).unref();
    };
    target.once('connect', () => {
      // TCP self-connect: while nothing listens, a port of the ephemeral range may be connected to itself.
      const toItself = target.localPort === port;
      target.destroy();
      if (toItself) again();
      else socket.end('1');
    });
    target.once('error', again);
  };
  attempt();
}
