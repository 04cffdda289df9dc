// Thousands of open WebSockets: what they take of memory, and how long echoes take beside them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type RunningServer, startNginx, startScript } from '../gateway/processes.ts';
import { atMost, median, printRow, reported } from '../machine.ts';
import { type Bed, LOAD_CORE, NAMES, PROXY_CORE } from './bed.ts';
import { startProgramWithOrders } from './orders.ts';
import type { EchoTimes, Target } from './socket-load.ts';

/** What the goal is about. */
const ALL = 10_000;
/**
 * Where a process may have 20,000 files open, a node lets its Gateways have 10,000 connections, of which 50 that want more
 * get 50 of 54 parts; and each WebSocket takes two files of a proxy.
 */
const SOCKETS = 9_200;
const MESSAGES_PER_SECOND = 5_000;
const ECHO_SECONDS = 5;
const MESSAGES = MESSAGES_PER_SECOND * ECHO_SECONDS;
/** After it a process without work has collected its garbage, as it does in the platform (idle-collection.ts). */
const REST_MILLISECONDS = 45_000;

export async function compareSockets(bed: Bed, { rounds }: { readonly rounds: number }): Promise<void> {
  const workload = join(bed.folder, 'echo.sock');
  await bed.keep(startScript(new URL('./echo-server.ts', import.meta.url), LOAD_CORE, [workload]));
  const { node, ingress } = await bed.startWay({ workload });
  const ours = [node, ingress];
  const nginx = await bed.keep(
    startNginx(bed.folder, 'sockets', PROXY_CORE, {
      // nginx closes connections without a request, such as new ones, where less than a sixteenth of these is left.
      connections: Math.ceil((2 * SOCKETS * 16) / 15) + 100,
      http: `upstream app { server unix:${workload}; }`,
      server: `location / { proxy_pass http://app; proxy_http_version 1.1; proxy_read_timeout 600s;
               proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }`,
    }),
  );

  async function open({ port }: RunningServer) {
    const targets: Target[] = NAMES.map((host) => ({ port, host }));
    const args = [JSON.stringify(targets), ...[SOCKETS, MESSAGES_PER_SECOND, ECHO_SECONDS].map(String)];
    return startProgramWithOrders<EchoTimes>(new URL('./socket-load.ts', import.meta.url), LOAD_CORE, args);
  }

  /** Milliseconds. */
  async function echo({ order }: { order(): Promise<EchoTimes> }): Promise<number> {
    const times: EchoTimes[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await order());
    if (times.some(({ echoes }) => echoes !== MESSAGES)) throw new Error('Echoes were lost.');
    return median(times.map(({ p99 }) => p99));
  }

  await delay(REST_MILLISECONDS);
  const before = await residentMB(ours);
  const count = SOCKETS.toLocaleString('en');
  const rate = MESSAGES_PER_SECOND.toLocaleString('en');
  {
    await using load = await open(ingress);
    const opened = await residentMB(ours);
    await delay(REST_MILLISECONDS);
    const resting = await residentMB(ours);
    const ofAll = before + ((resting - before) * ALL) / SOCKETS;
    const what = 'open WebSockets, resident memory of Ingress and node with Gateways';
    printRow(atMost(`${ALL.toLocaleString('en')} ${what}, as ${count} are measured`, ofAll, 'MB', 600));
    printRow(reported(`${count} ${what}`, resting, 'MB'));
    printRow(reported('the same without any', before, 'MB'));
    printRow(reported('the same when the last had just been opened', opened, 'MB'));
    const p99 = await echo(load);
    printRow(reported(`echo beside them at ${rate} messages a second, p99`, p99, 'ms'));
    printRow(reported('resident memory after these messages', await residentMB(ours), 'MB'));
  }
  await using load = await open(nginx);
  printRow(reported('nginx, echo beside as many, p99', await echo(load), 'ms'));
}

/** Of all of them, in millions of bytes. */
async function residentMB(servers: readonly RunningServer[]): Promise<number> {
  let kib = 0;
  for (const { pid } of servers)
    kib += Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return (kib * 1_024) / 1e6;
}
