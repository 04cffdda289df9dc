// Public requests through Ingress, public side and Gateway to a workload that answers at once, beside nginx, HAProxy and
// Caddy as proxies to the same workload, each on the same core; and thousands of WebSockets.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../tests/support/free-port.ts';
import { lacksProgram } from '../../tests/support/lacks-program.ts';
import {
  hasNginx,
  type Load,
  loadWithWrk,
  type RunningServer,
  startNginx,
  startProgram,
  startScript,
} from '../gateway/processes.ts';
import { atLeast, atMost, median, printRow, reported } from '../machine.ts';
import { quietRounds } from '../quiet.ts';
import { startProgramWithOrders } from './orders.ts';
import { compareSlowClients } from './slow-clients.ts';
import type { EchoTimes } from './socket-load.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CALLERS = 64;
const PROXY_CORE = 0;
const LOAD_CORE = 1;
/** With the sockets that an installation may have (contract 4e), and no more. */
const NAMES = Array.from({ length: 50 }, (_, at) => `bench-${at}--aaaabbbbccccddddeeee.public.platform.localhost`);
const ALL_NAMES = NAMES.join();
const CREDENTIAL = 'pni_bench-0123456789abcdefghijklmnopqrstuvwxyzABC';
const ANSWER = '{"ok":true,"text":"The quick brown fox jumps over the lazy dog."}';
/** Each takes two descriptors of a process; where it may have 20,000, all Gateways of a node may have half of them. */
const SOCKETS = 4_800;
const MESSAGES_PER_SECOND = 5_000;
const ECHO_SECONDS = 5;
const ECHO_ROUNDS = 3;

const lacking = ['haproxy', 'caddy', 'slowhttptest'].map(lacksProgram).filter((why) => why !== false);
if (!(await hasNginx()) || lacking.length > 0 || availableParallelism() < 2)
  throw new Error('This bench needs two cores and: apt-get install nginx-light haproxy caddy wrk slowhttptest.');

const folder = await mkdtemp(join(tmpdir(), 'bench-ingress-'));
await using parts = new AsyncDisposableStack();
parts.defer(() => rm(folder, { recursive: true, force: true }));
const pids: number[] = [];

async function keep<Server extends RunningServer>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  parts.defer(() => server.stop());
  pids.push(server.pid);
  return server;
}

/** Ingress and public side with Gateway, two processes on one core, before the workload at this socket. */
async function startWay(
  socketPath: string,
  trusted = '127.0.0.1',
): Promise<{ readonly node: RunningServer; readonly ingress: RunningServer }> {
  const script = (name: string) => new URL(name, import.meta.url);
  const node = await keep(startScript(script('./node-server.ts'), PROXY_CORE, [socketPath, ALL_NAMES, CREDENTIAL]));
  const args = [String(node.port), ALL_NAMES, CREDENTIAL, trusted];
  return { node, ingress: await keep(startScript(script('./ingress-server.ts'), PROXY_CORE, args)) };
}

async function writeFileIn(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

async function compareRequests(): Promise<void> {
  const workloadSocket = join(folder, 'workload.sock');
  const workload = await keep(
    startNginx(folder, 'workload', LOAD_CORE, {
      server: `listen unix:${workloadSocket}; location / { default_type application/json; return 200 '${ANSWER}'; }`,
    }),
  );
  const { ingress } = await startWay(workloadSocket);
  const nginx = await keep(
    startNginx(folder, 'proxy', PROXY_CORE, {
      http: `upstream app { server unix:${workloadSocket}; keepalive 256; keepalive_requests 1000000000; }`,
      server: 'location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }',
    }),
  );
  const [haproxyPort, caddyPort] = [await freePort(), await freePort()];
  const haproxyFile = await writeFileIn(
    'haproxy.cfg',
    `global\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s
frontend in\n  bind 127.0.0.1:${haproxyPort}\n  default_backend app
backend app\n  http-reuse always\n  server app unix@${workloadSocket}\n`,
  );
  const haproxy = await keep(
    startProgram(['haproxy', '-db', '-f', haproxyFile], { core: PROXY_CORE, port: haproxyPort, environment: {} }),
  );
  const caddyFile = await writeFileIn(
    'Caddyfile',
    `{\n\tadmin off\n\tauto_https off\n\tlog {\n\t\tlevel ERROR\n\t}\n}\nhttp://:${caddyPort} {\n\tbind 127.0.0.1\n\treverse_proxy unix/${workloadSocket}\n}\n`,
  );
  const caddy = await keep(
    startProgram(['caddy', 'run', '--adapter', 'caddyfile', '--config', caddyFile], {
      ...{ core: PROXY_CORE, port: caddyPort },
      environment: { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder, GOMAXPROCS: '1' },
    }),
  );
  const script = await writeFileIn('get.lua', `wrk.headers["Host"] = "${NAMES[0]}"`);
  const load = (port: number, callers = CALLERS): Promise<Load> =>
    loadWithWrk(`http://127.0.0.1:${port}/feed`, { core: LOAD_CORE, callers, seconds: SECONDS, script });
  const ports = { ours: ingress.port, nginx: nginx.port, haproxy: haproxy.port, caddy: caddy.port };
  for (const port of Object.values(ports)) await load(port);
  const rounds = await quietRounds({ rounds: ROUNDS, pids }, async () => ({
    ours: (await load(ports.ours)).requestsPerSecond,
    nginx: (await load(ports.nginx)).requestsPerSecond,
    haproxy: (await load(ports.haproxy)).requestsPerSecond,
    caddy: (await load(ports.caddy)).requestsPerSecond,
  }));
  const ratio = (other: 'nginx' | 'haproxy' | 'caddy') => median(rounds.map((round) => round.ours / round[other]));
  printRow(atLeast('Ingress and Gateway to nginx, a small GET', ratio('nginx'), '×', 0.2));
  printRow(reported('the same to HAProxy', ratio('haproxy'), '×'));
  printRow(reported('the same to Caddy', ratio('caddy'), '×'));
  for (const [name, label] of [
    ['ours', 'Ingress and Gateway, both on one core'],
    ['nginx', 'nginx, the same core'],
    ['haproxy', 'HAProxy, the same core'],
    ['caddy', 'Caddy, the same core'],
  ] as const)
    printRow(reported(label, median(rounds.map((round) => round[name])), 'req/s'));
  const added = await quietRounds({ rounds: ROUNDS, pids }, async () => {
    const through = (await load(ports.ours, 1)).p50;
    return through - (await load(workload.port, 1)).p50;
  });
  printRow(reported('Ingress and Gateway, added p50 at one caller', median(added), 'ms'));
}

async function residentMiB({ pid }: RunningServer): Promise<number> {
  const [, kib = '0'] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

async function compareSockets(): Promise<void> {
  const echoSocket = join(folder, 'echo.sock');
  await keep(startScript(new URL('./echo-server.ts', import.meta.url), LOAD_CORE, [echoSocket]));
  const { node, ingress } = await startWay(echoSocket);
  const nginx = await keep(
    startNginx(folder, 'sockets', PROXY_CORE, {
      connections: 2 * SOCKETS + 100,
      http: `upstream app { server unix:${echoSocket}; }`,
      server: `location / { proxy_pass http://app; proxy_http_version 1.1; proxy_read_timeout 600s;
                 proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }`,
    }),
  );
  async function echo(
    port: number,
    count: number,
  ): Promise<{ readonly rounds: EchoTimes[]; readonly mebibytes: number }> {
    const args = [String(port), ALL_NAMES, String(count), String(MESSAGES_PER_SECOND), String(ECHO_SECONDS)];
    await using load = await startProgramWithOrders<EchoTimes>(
      new URL('./socket-load.ts', import.meta.url),
      LOAD_CORE,
      args,
    );
    const rounds: EchoTimes[] = [];
    for (let round = 0; round < ECHO_ROUNDS; round += 1) rounds.push(await load.order());
    return { rounds, mebibytes: (await residentMiB(node)) + (await residentMiB(ingress)) };
  }
  const before = (await residentMiB(node)) + (await residentMiB(ingress));
  const ours = await echo(ingress.port, SOCKETS);
  const beside = await echo(nginx.port, SOCKETS);
  const all = MESSAGES_PER_SECOND * ECHO_SECONDS;
  if ([...ours.rounds, ...beside.rounds].some(({ echoes }) => echoes !== all)) throw new Error('Echoes were lost.');
  printRow(
    atMost(`Ingress and Gateway with ${SOCKETS.toLocaleString('en')} WebSockets, resident`, ours.mebibytes, 'MiB', 600),
  );
  printRow(reported('the same without any', before, 'MiB'));
  const p99 = (rounds: readonly EchoTimes[]) => median(rounds.map((round) => round.p99));
  printRow(
    reported(`echo at ${MESSAGES_PER_SECOND.toLocaleString('en')} messages a second, p99`, p99(ours.rounds), 'ms'),
  );
  printRow(reported('nginx, the same', p99(beside.rounds), 'ms'));
}

async function compareSlow(): Promise<void> {
  const socketPath = join(folder, 'slow.sock');
  const large = join(folder, 'large');
  await writeFile(large, 'x'.repeat(4 * 1_024 * 1_024));
  await keep(
    startNginx(folder, 'slow', LOAD_CORE, {
      server: `listen unix:${socketPath}; location = /large { root ${folder}; }
               location / { default_type application/json; return 200 '${ANSWER}'; }`,
    }),
  );
  // Without a proxy: each client has its own address, and its own limits.
  const { ingress } = await startWay(socketPath, '');
  await compareSlowClients({ port: ingress.port, hostname: NAMES[0] ?? '', largePath: '/large' });
}

await compareRequests();
await compareSockets();
await compareSlow();
