// Many WebSockets that are open at once, and a steady number of messages a second among them. Prints `{ "port": 0 }` when all
// are open; at each line on standard input it sends for some seconds, and prints how long the echoes took.
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import { percentile } from '../machine.ts';

export interface EchoTimes {
  readonly p50: number;
  readonly p99: number;
  /** Messages whose echo came. */
  readonly echoes: number;
}

/** Where a WebSocket is opened. */
export interface Target {
  readonly port: number;
  readonly host: string;
}

const [targetList = '', count = '', perSecond = '', seconds = ''] = process.argv.slice(2);
/** An Ingress takes a bounded number of connections of one client. */
const OF_ONE_ADDRESS = 250;
const OPENING_AT_ONCE = 50;
const EVERY_MILLISECONDS = 5;

const targets: readonly Target[] = JSON.parse(targetList);
const sockets: WebSocket[] = [];
const times: number[] = [];

function open(index: number): Promise<void> {
  const { port, host } = targets[index % targets.length] as Target;
  const localAddress = `127.0.1.${1 + Math.floor(index / OF_ONE_ADDRESS)}`;
  const options = { headers: { host }, localAddress, perMessageDeflate: false, family: 4 };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chat`, options);
  socket.on('message', (data) => times.push(performance.now() - Number(data)));
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => {
      sockets.push(socket);
      resolve();
    });
  });
}

for (let begun = 0; begun < Number(count); begun += OPENING_AT_ONCE)
  await Promise.all(
    Array.from({ length: Math.min(OPENING_AT_ONCE, Number(count) - begun) }, (_, at) => open(begun + at)),
  );
console.log(JSON.stringify({ port: 0 }));

async function measure(): Promise<EchoTimes> {
  times.length = 0;
  const total = Number(perSecond) * Number(seconds);
  const started = performance.now();
  let sent = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - started) / 1_000) * Number(perSecond));
      for (; sent < due; sent += 1) sockets[(sent * 7_919) % sockets.length]?.send(String(performance.now()));
      if (sent < total) return;
      clearInterval(timer);
      resolve();
    }, EVERY_MILLISECONDS);
  });
  const patience = performance.now() + 10_000;
  while (times.length < total && performance.now() < patience) await new Promise((resolve) => setTimeout(resolve, 20));
  return { p50: percentile(times, 50), p99: percentile(times, 99), echoes: times.length };
}

for await (const _line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await measure()));
