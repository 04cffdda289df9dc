// The keeper of one virtual machine: runs beside its monitor, in the same network namespace, as the same user without
// rights. To the Runtime it looks like the workload itself: its two outputs, its signals, its exit code, one socket in
// and one listener for the Gateway. Its handshake with the Runtime is that of drivers/process/handshake.ts.
import { readFileSync, watch } from 'node:fs';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { addresses, bridgePortsFor, type KeeperOrder } from '../places.ts';
import { firecracker } from './firecracker.ts';
import { awaitGuest, type GuestChannel } from './guest-channel.ts';
import { relayInbound } from './inbound.ts';
import type { Monitor } from './monitor.ts';
import { qemu } from './qemu.ts';
import { report } from './report.ts';

/** For the machine to turn itself off after its workload's end is known. */
const OFF_LIMIT = 3_000;
const LAST_WORDS = 200;
const PORTS_EVERY = 1_000;
const RESOLVER = '/etc/resolv.conf';
const GIVEN_UP = 70;
const TERMINATED = 143;

let released = false;
process.once('disconnect', () => {
  if (!released) process.exit(GIVEN_UP);
});
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(GIVEN_UP);
});

const { order, inbound } = await firstMessage();
const urls = {
  ...urlsAt(order.gatewayPort, order.gatewayUrls),
  ...(order.storagePort === null ? {} : urlsAt(order.storagePort, order.storageUrls)),
};
const ports = bridgePortsFor(order.port);
const guest = await awaitGuest({
  order: order.guest,
  details: {
    environment: { ...order.environment, ...urls },
    port: order.port,
    address: addresses.guest,
    bridgePort: ports.bridge,
    questionPort: ports.question,
  },
  nameServers,
});
// Before the Runtime may connect: a connection that is not accepted would never be answered.
const listening = relayInbound(inbound, { host: addresses.guest, ports, ready: guest.connected });
await handOver(order.gatewayPort);
if (order.storagePort !== null) await handOver(order.storagePort);
await leaveToGo();

const monitor = (order.machine.monitor === 'qemu' ? qemu : firecracker)(order.machine);
let terminated = false;
process.on('SIGTERM', () => {
  terminated = true;
  guest.stop();
});
askForPorts(guest, listening);
followResolver(guest);
process.exit(await untilTheEnd(guest, monitor));

/** The workload's exit code; everything that it said has been handed on. */
async function untilTheEnd(channel: GuestChannel, machine: Monitor): Promise<number> {
  const gone = machine.ended.then(() => undefined);
  const end = await Promise.race([channel.ended, gone]);
  if (end === undefined) {
    report({ kind: 'lost', console: machine.console() });
    // Its connections never end now; what it had sent is read within moments.
    await delay(LAST_WORDS);
    return terminated ? TERMINATED : 1;
  }
  if (end.memoryKills > 0) report({ kind: 'memory', kills: end.memoryKills });
  await channel.outputsEnded;
  channel.turnOff();
  const limit = setTimeout(() => machine.kill(), OFF_LIMIT);
  await machine.ended;
  clearTimeout(limit);
  return end.code;
}

function firstMessage(): Promise<{ order: KeeperOrder; inbound: net.Server }> {
  return new Promise((resolve, reject) => {
    process.once('message', (message, handle) => {
      // Written by the Runtime that started this process, of the same version.
      if (handle instanceof net.Server) resolve({ order: message as KeeperOrder, inbound: handle });
      else reject(new Error('The start order arrived without the inbound listener.'));
    });
  });
}

/** The socket stays in this network namespace; the Gateway's HTTP server that answers on it is in the Runtime. */
function urlsAt(port: number, urls: Readonly<Record<string, string>>): Record<string, string> {
  const origin = `http://${addresses.host}:${port}`;
  return Object.fromEntries(Object.entries(urls).map(([name, path]) => [name, origin + path]));
}

/** Makes a listener of the Gateway in the machine's network and gives it to the Runtime. */
async function handOver(port: number): Promise<void> {
  const gateway = net.createServer();
  await new Promise<void>((resolve, reject) => {
    gateway.once('error', reject);
    gateway.listen(port, addresses.host, resolve);
  });
  await new Promise<void>((resolve, reject) => {
    process.send?.({ kind: 'gateway-listener' }, gateway, {}, (error) => (error ? reject(error) : resolve()));
  });
  // Our copy closes as soon as the Runtime has its own, or this process would compete for the connections.
  await new Promise((resolve) => gateway.close(resolve));
}

async function leaveToGo(): Promise<void> {
  const gone = new Promise((resolve) => process.once('disconnect', resolve));
  await new Promise<void>((resolve) => {
    process.once('message', () => {
      released = true;
      resolve();
    });
  });
  await gone;
}

/**
 * Polls the guest's open ports until PORT accepts, so that the status can show where the workload listens instead. One
 * request at a time: they would pile up in a guest that is busy with its start.
 */
function askForPorts(channel: GuestChannel, listening: Promise<void>): void {
  let isOver = false;
  let isPending = false;
  const ask = () => {
    isPending = !isOver;
    if (isPending) channel.askForPorts();
  };
  channel.onPorts((ports) => {
    report({ kind: 'ports', ports });
    if (isPending) setTimeout(ask, PORTS_EVERY).unref();
    isPending = false;
  });
  void channel.connected.then(ask);
  void listening.then(() => {
    isOver = true;
  });
}

/** The Runtime changes the file when the internet is granted or revoked; the guest has a copy. */
function followResolver(channel: GuestChannel): void {
  const update = () => channel.setNameServers(nameServers());
  update();
  watch(RESOLVER, { persistent: false }, update).on('error', (error) =>
    process.stderr.write(`Changes of its name servers do not reach it any more: ${error.message}\n`),
  );
}

function nameServers(): string[] {
  const text = readFileSync(RESOLVER, 'latin1');
  return [...text.matchAll(/^nameserver ([\d.]+)$/gm)].flatMap(([, address]) => address ?? []);
}
