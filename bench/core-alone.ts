// Core alone on one core of the machine, its PostgreSQL and its clients on the other: so a figure is that of core.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import { makeClusterFolder } from '../tests/support/postgres.ts';

export const CORE_CPU = 0;
/** Of PostgreSQL and of the callers. */
export const REST_CPU = 1;

export interface CoreAlone<Line> extends AsyncDisposable {
  /** What the server said of itself. */
  readonly line: Line;
  readonly pid: number;
  readonly databaseUrl: string;
  /** For files of the bench; removed at the end. */
  readonly folder: string;
  /** From here on PostgreSQL, this process, and every process these make leave core its core. */
  separate(): Promise<void>;
}

export interface CoreAloneOptions {
  /** A script that starts core on `PLATFORM_TEST_DATABASE_URL` and prints one line of JSON, of the type `Line`. */
  readonly server: URL;
  /** Its arguments. */
  readonly args?: readonly string[];
  /** Where PostgreSQL keeps its files: on the disk of this machine where a figure speaks of what is durable. */
  readonly postgres: 'disk' | 'memory';
}

/** Everything it started ends with the block. @throws Error when the server says nothing */
export async function startCoreAlone<Line>({
  server,
  args = [],
  postgres,
}: CoreAloneOptions): Promise<CoreAlone<Line>> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const dataDir = postgres === 'disk' ? join(folder, 'postgres') : makeClusterFolder();
  parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  if (postgres === 'disk') {
    await chmod(folder, 0o711);
    await mkdir(dataDir);
  }
  const cluster = await startEmbeddedPostgres({ dataDir, log: (line) => process.stderr.write(`${line}\n`) });
  parts.defer(() => cluster.stop());
  const core = spawn('taskset', ['-c', String(CORE_CPU), process.execPath, fileURLToPath(server), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PLATFORM_TEST_DATABASE_URL: cluster.url },
  });
  const exited = once(core, 'exit');
  parts.defer(async () => {
    core.kill('SIGTERM');
    await exited;
  });
  const [pid, line] = [core.pid, await firstLine(core.stdout)];
  if (pid === undefined || line === null) throw new Error('the measured server did not start');
  const running = parts.move();
  return {
    line: JSON.parse(line),
    pid,
    databaseUrl: cluster.url,
    folder,
    separate: () => separate(cluster),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** With PostgreSQL on a disk, since durable means that, and everything on its core from the beginning. */
export async function startDurableCore<Line>(server: URL): Promise<CoreAlone<Line>> {
  const bench = await startCoreAlone<Line>({ server, postgres: 'disk' });
  await bench.separate();
  return bench;
}

async function firstLine(input: NodeJS.ReadableStream): Promise<string | null> {
  const lines = createInterface({ input });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  return line ?? null;
}

async function separate({ pid }: EmbeddedPostgres): Promise<void> {
  for (const each of [pid, process.pid])
    await promisify(execFile)('taskset', ['-a', '-c', '-p', String(REST_CPU), String(each)]);
}
