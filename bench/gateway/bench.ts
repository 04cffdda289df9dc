// Forwarding of a small JSON request, against nginx, @fastify/http-proxy and a bare proxy in the same run: each proxy alone on one
// core when measured, the upstream and the callers on the other, several interleaved rounds, medians.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atLeast, atMost, median, printRow, reported } from '../machine.ts';
import { quietRounds } from '../quiet.ts';
import { type Load, loadWithWrk, type RunningServer, startNginx, startScript } from './processes.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CALLERS = 64;
const PROXY_CORE = 0;
const LOAD_CORE = 1;
const CREDENTIAL = 'pgw_bench-0123456789abcdefghijklmnopqrstuvwxyzABC';
const PATH = '/v1/services/notifications';
const BODY = '{"topic":"builds","title":"Build 41 is green","body":"All 312 tests passed."}';
const ANSWER = '{"notification":{"id":"ntf-0190a1b2-0000-7000-8000-000000000001","topic":"builds"}}';

const folder = await mkdtemp(join(tmpdir(), 'bench-gateway-'));
const servers: RunningServer[] = [];

async function keep(starting: Promise<RunningServer>): Promise<number> {
  const server = await starting;
  servers.push(server);
  return server.port;
}

const COMMON = [`wrk.headers["Authorization"] = "Bearer ${CREDENTIAL}"`, 'wrk.headers["Accept"] = "application/json"'];
const POST = ['wrk.method = "POST"', 'wrk.headers["Content-Type"] = "application/json"', `wrk.body = [[${BODY}]]`];

async function writeScript(name: string, lines: readonly string[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, lines.join('\n'));
  return file;
}

function load(port: number, callers: number, script: string): Promise<Load> {
  return loadWithWrk(`http://127.0.0.1:${port}${PATH}`, { core: LOAD_CORE, callers, seconds: SECONDS, script });
}

function quiet<Result>(round: () => Promise<Result>): Promise<Result[]> {
  return quietRounds({ rounds: ROUNDS, pids: servers.map(({ pid }) => pid) }, round);
}

try {
  const upstream = await keep(
    startNginx(folder, 'upstream', LOAD_CORE, {
      server: `location / { default_type application/json; return 200 '${ANSWER}'; }`,
    }),
  );
  const origin = `http://127.0.0.1:${upstream}`;
  const nginx = await keep(
    startNginx(folder, 'proxy', PROXY_CORE, {
      http: `upstream core { server 127.0.0.1:${upstream}; keepalive 256; keepalive_requests 1000000000; }`,
      server: `location / {
        proxy_pass http://core; proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_set_header Authorization "Bearer pcs_bench"; proxy_set_header Cookie "";
      }`,
    }),
  );
  const gateway = await keep(startScript('./gateway-server.ts', PROXY_CORE, [origin, CREDENTIAL]));
  const httpProxy = await keep(startScript('./http-proxy-server.ts', PROXY_CORE, [origin]));
  const bare = await keep(startScript('./bare-proxy-server.ts', PROXY_CORE, [origin]));

  const post = await writeScript('post.lua', [...COMMON, ...POST]);
  const get = await writeScript('get.lua', COMMON);

  async function compare(what: string, script: string): Promise<void> {
    for (const port of [nginx, gateway, httpProxy, bare]) await load(port, CALLERS, script);
    const rounds = await quiet(async () => ({
      nginx: (await load(nginx, CALLERS, script)).requestsPerSecond,
      gateway: (await load(gateway, CALLERS, script)).requestsPerSecond,
      httpProxy: (await load(httpProxy, CALLERS, script)).requestsPerSecond,
      bare: (await load(bare, CALLERS, script)).requestsPerSecond,
    }));
    const toNginx = median(rounds.map((round) => round.gateway / round.nginx));
    const toHttpProxy = median(rounds.map((round) => round.gateway / round.httpProxy));
    const bareToNginx = median(rounds.map((round) => round.bare / round.nginx));
    printRow(reported(`Gateway, ${what}, one core`, median(rounds.map((round) => round.gateway)), 'req/s'));
    printRow(reported('nginx, the same', median(rounds.map((round) => round.nginx)), 'req/s'));
    printRow(reported('@fastify/http-proxy, the same', median(rounds.map((round) => round.httpProxy)), 'req/s'));
    printRow(atLeast(`Gateway to nginx, ${what}`, toNginx, '×', 0.4));
    printRow(reported('node:http and undici alone to nginx, the same', bareToNginx, '×'));
    printRow(atLeast(`Gateway to @fastify/http-proxy, ${what}`, toHttpProxy, '×', 2));
  }
  await compare('POST of a small JSON body', post);
  await compare('GET of a small JSON answer', get);

  const added = await quiet(async () => {
    const through = await load(gateway, 1, post);
    return through.p50 - (await load(upstream, 1, post)).p50;
  });
  printRow(atMost('Gateway, added p50 at one caller', median(added), 'ms', 0.4));

  const memory = fileURLToPath(new URL('./idle-memory.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', memory]);
  const { bytes }: { bytes: number } = JSON.parse(stdout);
  printRow(reported('idle Gateway, resident memory', bytes / 1024, 'KiB'));
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
}
