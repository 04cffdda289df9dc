// Starts the processes that the Gateway is measured with: each server pinned to one core, the load on another.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../tests/support/free-port.ts';

const run = promisify(execFile);

export interface RunningServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Runs a server script on `core`, by default one of this folder; it prints `{ "port": … }` once it listens. */
export async function startScript<Line extends { readonly port: number }>(
  name: string | URL,
  core: number,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningServer & { readonly line: Line }> {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn('taskset', ['-c', String(core), process.execPath, script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const [written] = await once(child.stdout, 'data');
  const line: Line = JSON.parse(String(written));
  return { port: line.port, line, pid: pidOf(child), stop: () => stop(child) };
}

/** Runs any other server on `core`, told to listen on `port`. Resolves once it does. */
export async function startProgram(
  [program = '', ...args]: readonly string[],
  { core, port, environment }: { core: number; port: number; environment: Readonly<Record<string, string>> },
): Promise<RunningServer> {
  const child = spawn('taskset', ['-c', String(core), program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...environment },
  });
  await untilListening(port, child);
  return { port, pid: pidOf(child), stop: () => stop(child) };
}

/** Runs nginx on `core` with a private configuration in `folder`; `server` is the inside of its one server block. */
export async function startNginx(
  folder: string,
  name: string,
  core: number,
  {
    http = '',
    listen = '',
    server,
    connections = 4_096,
  }: {
    readonly http?: string;
    /** Further parameters of its port. */
    readonly listen?: string;
    readonly server: string;
    readonly connections?: number;
  },
): Promise<RunningServer> {
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, `${name}-${kind}`)};`)
    .join('\n');
  const file = join(folder, `${name}.conf`);
  await writeFile(
    file,
    `daemon off; master_process off; worker_processes 1; pid ${join(folder, `${name}.pid`)}; error_log stderr crit;
     events { worker_connections ${connections}; }
     http {
       access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
       ${temporary}
       ${http}
       server { listen 127.0.0.1:${port} reuseport ${listen}; ${server} }
     }`,
  );
  return startProgram([nginxPath, '-p', folder, '-e', 'stderr', '-c', file], { core, port, environment: {} });
}

const nginxPath = '/usr/sbin/nginx';

export interface Load {
  readonly requestsPerSecond: number;
  /** Median latency in milliseconds. */
  readonly p50: number;
}

export interface LoadOptions {
  readonly core: number;
  readonly callers: number;
  readonly seconds: number;
  /** A wrk script that makes the request. */
  readonly script: string;
}

/** Loads `url` with wrk. Throws when any answer was not a success. */
export async function loadWithWrk(url: string, { core, callers, seconds, script }: LoadOptions): Promise<Load> {
  const { stdout } = await run('taskset', [
    ...[
      '-c',
      String(core),
      'wrk',
      '--latency',
      '--timeout',
      '30s',
      '-t',
      '1',
      '-c',
      String(callers),
      '-d',
      `${seconds}s`,
    ],
    ...['-s', script, url],
  ]);
  const failures = /Non-2xx or 3xx responses: (\d+)|Socket errors: .*/.exec(stdout);
  if (failures !== null) throw new Error(`${url}: ${failures[0]}`);
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(stdout);
  const latency = /50%\s+([\d.]+)(us|ms|s)/.exec(stdout);
  const scale = { us: 0.001, ms: 1, s: 1000 }[latency?.[2] ?? ''];
  if (rate === null || latency === null || scale === undefined) throw new Error(`wrk said: ${stdout}`);
  return { requestsPerSecond: Number(rate[1]), p50: Number(latency[1]) * scale };
}

export interface TlsLoadOptions {
  readonly core: number;
  /** What the client offers; it throws when the server chooses another. */
  readonly protocol: 'http/1.1' | 'h2';
  readonly connections: number;
  /** Requests under way on each connection. */
  readonly requestsOfEach: number;
  readonly seconds: number;
  /** `host:port` to connect to, whatever the URL says. */
  readonly address: string;
}

/** On a busy machine h2load 1.52 sometimes waits for itself when its time is over. */
const H2LOAD_GRACE_SECONDS = 20;
const ATTEMPTS = 3;

/** @returns what it wrote, of the first of three attempts that ended by itself in time */
async function runUntilItEnds(milliseconds: number, [program = '', ...args]: readonly string[]): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await run(program, args, { timeout: milliseconds })).stdout;
    } catch (error) {
      const wasKilled = error instanceof Error && 'killed' in error && error.killed === true;
      if (!wasKilled || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Loads an `https` URL with h2load. @returns requests a second. Throws when any answer was not a success. */
export async function loadWithH2load(
  url: string,
  { core, protocol, connections, requestsOfEach, seconds, address }: TlsLoadOptions,
): Promise<number> {
  const offer = protocol === 'h2' ? [] : ['--h1'];
  const stdout = await runUntilItEnds((seconds + H2LOAD_GRACE_SECONDS) * 1_000, [
    ...['taskset', '-c', String(core), 'h2load', ...offer, `--connect-to=${address}`],
    ...['-c', String(connections), '-m', String(requestsOfEach), '-D', String(seconds), url],
  ]);
  const rate = /, ([\d.]+) req\/s/.exec(stdout);
  const isGood = /, 0 failed, 0 errored, 0 timeout/.test(stdout) && /2xx, 0 3xx, 0 4xx, 0 5xx/.test(stdout);
  if (rate === null || !isGood || !stdout.includes(`Application protocol: ${protocol}\n`))
    throw new Error(`h2load said: ${stdout}`);
  return Number(rate[1]);
}

/** `taskset` becomes the program it starts, so the child's id is the server's. */
function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('The server was not started.');
  return child.pid;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode} before it listened.`);
    const socket = connect(port, '127.0.0.1');
    const connected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (connected) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
