// The platform as a user starts it: the command line in a process of its own, on free ports and a folder of its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfiguration } from '@platform/core/config';
import {
  type PartName,
  type PartState,
  type PlannedListener,
  parts,
  plannedListeners,
} from '../../packages/cli/test-support/parts.ts';
import { serverProcesses } from '../../packages/core/test-support/server-processes.ts';
import { unmountBelow } from '../../packages/runtime/test-support/unmount.ts';
import { copyStarted } from './data-template.ts';
import { freePort } from './free-port.ts';
import { until } from './wait.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));
/**
 * What every command inherits; the compile cache as from `npm start`, so that a start costs here what it costs a
 * user.
 */
export const inherited: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.platform/compile-cache', import.meta.url)),
  // While `npm run statements` records what core asks of the database.
  ...(process.env.RECORDED_STATEMENTS === undefined
    ? {}
    : { NODE_OPTIONS: process.env.NODE_OPTIONS, RECORDED_STATEMENTS: process.env.RECORDED_STATEMENTS }),
};

export interface PlatformProcess {
  readonly origin: string;
  readonly port: number;
  readonly nodePort: number;
  readonly dataDirectory: string;
  /** Everything it wrote so far. */
  output(): string;
  readonly pid: number;
  /** Variables under which further commands reach the same platform. */
  readonly environment: NodeJS.ProcessEnv;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface PlatformPlace {
  readonly dataDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly origin: string;
  readonly port: number;
  readonly nodePort: number;
  readonly ingressPort: number;
  remove(): Promise<void>;
}

/** A data folder on which a platform was started before, and ports that stay the same over several starts. */
export async function platformPlace(more: NodeJS.ProcessEnv = {}): Promise<PlatformPlace> {
  const place = await emptyPlace(more);
  await copyStarted(place.dataDirectory, startOnce);
  return place;
}

async function startOnce(dataDirectory: string): Promise<void> {
  const platform = await startPlatform(await placeOf(dataDirectory, {}));
  await platform.stop();
}

/** The same before any start. */
export async function emptyPlace(more: NodeJS.ProcessEnv = {}): Promise<PlatformPlace> {
  return placeOf(await mkdtemp(path.join(tmpdir(), 'platform-data-')), more);
}

async function placeOf(dataDirectory: string, more: NodeJS.ProcessEnv): Promise<PlatformPlace> {
  const ports = new Map<string, number>();
  const listening: NodeJS.ProcessEnv = {};
  for (const listener of DEFAULT_LISTENERS) {
    const port = await freePort();
    ports.set(listener.variable, port);
    listening[listener.variable] = settingOf(listener, port);
  }
  const portOf = (variable: string) => ports.get(variable) ?? 0;
  return {
    dataDirectory,
    origin: listening.PLATFORM_OS_ORIGIN ?? '',
    port: portOf('PLATFORM_OS_ORIGIN'),
    nodePort: portOf('PLATFORM_NODE_ORIGIN'),
    ingressPort: portOf('PLATFORM_INGRESS_LISTEN'),
    environment: { ...inherited, PLATFORM_DATA_DIR: dataDirectory, ...listening, ...more },
    async remove() {
      unmountBelow(dataDirectory);
      await serverEnded(dataDirectory);
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Where the parts of a platform listen that nothing is configured of: each test gets ports of its own for them. */
const DEFAULT_LISTENERS = plannedListeners(readConfiguration({}, { isRoot: false, home: tmpdir() }));

/** What makes it listen at another port. */
function settingOf({ variable, host, origin }: PlannedListener, port: number): string {
  if (!variable.endsWith('_ORIGIN') || origin === undefined) return `${host}:${port}`;
  return new URL(`//${new URL(origin).hostname}:${port}`, origin).origin;
}

/** A supervisor that was killed, or whose stop took too long, leaves its PostgreSQL writing everything down. */
async function serverEnded(dataDirectory: string): Promise<void> {
  const data = path.join(dataDirectory, 'postgres', 'data');
  if (existsSync(data)) await until('PostgreSQL to end', () => serverProcesses(data).length === 0);
}

const START_LIMIT_MS = 90_000;

const ordinary = readConfiguration({}, { isRoot: false, home: '/home/ada' });

/** The processes of a running platform below its supervisor where little is configured, in the order in which they start. */
export const PARTS = parts.filter((part) => part.isConfigured(ordinary)).map(({ name }) => name);
export type { PartName };

interface Instance {
  readonly databaseUrl: string;
  readonly parts: readonly PartState[];
}

/** What the supervisor of a running platform says. */
async function instanceOf({ dataDirectory }: Pick<PlatformPlace, 'dataDirectory'>): Promise<Instance> {
  return JSON.parse(await readFile(path.join(dataDirectory, 'run', 'instance.json'), 'utf8')) as Instance;
}

/** Where the database of a running platform is reached. */
export async function databaseUrlOf(place: Pick<PlatformPlace, 'dataDirectory'>): Promise<string> {
  return (await instanceOf(place)).databaseUrl;
}

/** What the supervisor says of the parts of a running platform, in the order in which they started. */
export async function partStatesOf(place: Pick<PlatformPlace, 'dataDirectory'>): Promise<readonly PartState[]> {
  return (await instanceOf(place)).parts;
}

/** What the supervisor says of one of them. */
export async function partOf(place: Pick<PlatformPlace, 'dataDirectory'>, name: PartName): Promise<PartState> {
  const part = (await partStatesOf(place)).find((one) => one.name === name);
  if (part === undefined) throw new Error(`the platform has no part ${name}`);
  return part;
}

/** What can be killed: the supervisor, with which everything ends, or one of the parts below it. */
export const VICTIMS = ['supervisor', ...PARTS] as const;

/** `kill -9` of one of them. Resolves with the platform that runs afterwards. */
export async function killAndRecover(
  platform: PlatformProcess,
  place: PlatformPlace,
  victim: (typeof VICTIMS)[number],
): Promise<PlatformProcess> {
  if (victim !== 'supervisor') {
    await killPart(place, victim);
    return platform;
  }
  await platform.kill('SIGKILL');
  return startPlatform(place);
}

/** `kill -9` of one part. Resolves when its supervisor has restarted it. */
export async function killPart(place: Pick<PlatformPlace, 'dataDirectory'>, name: PartName): Promise<void> {
  const { pid, restarts } = await until(`${name} to run`, async () => {
    const part = await partOf(place, name);
    return part.pid === null ? undefined : { ...part, pid: part.pid };
  });
  process.kill(pid, 'SIGKILL');
  await until(`${name} to be restarted`, async () => {
    const part = await partOf(place, name);
    return part.pid !== null && part.restarts > restarts ? part : undefined;
  });
}

/** @throws Error with its output when it does not say that it runs */
export async function startPlatform(place: PlatformPlace): Promise<PlatformProcess> {
  return { ...place, ...(await startCommand(['start'], place.environment, RUNNING)) };
}

/** The last line of a start that succeeded. */
export const RUNNING = 'The platform is running.';

/** A command that runs until it is stopped. */
export interface LongCommand extends Pick<PlatformProcess, 'output' | 'pid' | 'stop' | 'kill'> {}

/**
 * Resolves when the command has written `ready`.
 *
 * @param program Default: the command line
 * @throws Error with its output when it does not
 */
export async function startCommand(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  ready: string,
  program = CLI,
): Promise<LongCommand> {
  const child = spawn(process.execPath, [program, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`it did not start:\n${output}`)), START_LIMIT_MS);
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
      if (output.includes(ready)) {
        clearTimeout(limit);
        resolve();
      }
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('exit', (code, signal) => {
      clearTimeout(limit);
      reject(new Error(`it ended (${code ?? signal}):\n${output}`));
    });
  });
  return {
    output: () => output,
    pid: child.pid ?? 0,
    async stop() {
      await end(child, 'SIGTERM');
      return child.exitCode;
    },
    kill: (signal) => end(child, signal),
  };
}

/** A command that does its work and ends. @returns what it wrote. @throws Error when it fails */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args], { env: environment });
  return stdout;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}
