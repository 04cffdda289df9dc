// The running platform on a data folder, for the other commands: where its database is, and one to use when none runs.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import type { PlatformConfig } from '@platform/core/config';
import { startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import { openDataFolder, StartError } from '@platform/core/start';
import type { PartState } from '../supervisor/kept-part.ts';
import type { Release } from './release.ts';

interface InstanceFile {
  readonly pid: number;
  /** Of the embedded database; holds its password, so that the file is for its owner only. */
  readonly databaseUrl: string;
  readonly origin: string;
  /** The settings that it was started with, without secret ones, by their variables. Absent in the file of a former version. */
  readonly settings?: Readonly<Record<string, string>>;
  /** What PLATFORM_MASTER_ACCOUNT is there. Absent in the file of a former version. */
  readonly masterAccount?: string | null;
  /** What it consists of, as of the last change. */
  readonly parts: readonly PartState[];
  /** Of which all of it was started. Absent in the file of a former version. */
  readonly release?: Release;
}

function instanceFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'run', 'instance.json');
}

/**
 * Says where the running platform is reached. Removed by {@link forgetInstance}; stale after `kill -9`, so never
 * trusted alone.
 */
export function announceInstance(dataDirectory: string, instance: InstanceFile): void {
  const file = instanceFile(dataDirectory);
  // Without a Runtime on this machine the folder does not exist yet.
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // Other commands read it at any time: they find the former text or this one.
  writeFileSync(`${file}.new`, JSON.stringify(instance), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function forgetInstance(dataDirectory: string): void {
  rmSync(instanceFile(dataDirectory), { force: true });
}

/**
 * Runs `work` with the address of the platform's database: the configured one, the embedded one of the running
 * platform, or the embedded one started for as long as the work takes.
 *
 * @throws StartError `data_folder_unusable` when this user may not use the data folder
 */
export async function withDatabase<Result>(
  config: PlatformConfig,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  if (config.databaseUrl !== null) return work(config.databaseUrl);
  const folder = (() => {
    try {
      return openDataFolder(config.dataDirectory);
    } catch (error) {
      if (error instanceof StartError && error.code === 'data_folder_in_use') return null;
      throw error;
    }
  })();
  if (folder === null) return work(runningDatabaseUrl(config.dataDirectory));
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: folder.path, log: () => undefined });
    try {
      return await work(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    folder.close();
  }
}

/** The same with the database of the running platform alone. @throws StartError `platform_starting` where none runs */
export function withRunningDatabase<Result>(
  { databaseUrl, dataDirectory }: PlatformConfig,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  return work(databaseUrl ?? runningDatabaseUrl(dataDirectory));
}

/** The parts of the running platform; none where no platform runs, or it is just starting or stopping. */
export function runningParts(dataDirectory: string): readonly PartState[] {
  const instance = readInstance(dataDirectory);
  return instance !== null && isAlive(instance.pid) ? instance.parts : [];
}

/** Of which the running platform was started; `null` where none runs, or one of a version that did not say. */
export function runningRelease(dataDirectory: string): Release | null {
  const instance = readInstance(dataDirectory);
  return instance !== null && isAlive(instance.pid) ? (instance.release ?? null) : null;
}

/** The settings that the running platform was started with; `null` where none runs. */
export function runningSettings(dataDirectory: string): Readonly<Record<string, string>> | null {
  const instance = readInstance(dataDirectory);
  return instance !== null && isAlive(instance.pid) ? (instance.settings ?? null) : null;
}

/** The process of the running platform, which a restart replaces; `null` where none runs. */
export function runningPid(dataDirectory: string): number | null {
  const instance = readInstance(dataDirectory);
  return instance !== null && isAlive(instance.pid) ? instance.pid : null;
}

/** What PLATFORM_MASTER_ACCOUNT is in the running platform; `null` where none runs, or it is not set there. */
export function runningMaster(dataDirectory: string): string | null {
  const instance = readInstance(dataDirectory);
  return instance !== null && isAlive(instance.pid) ? (instance.masterAccount ?? null) : null;
}

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
}

/** The processes of the running platform: its supervisor, and the parts that run at this moment. */
export function runningProcesses(dataDirectory: string): readonly RunningProcess[] {
  const instance = readInstance(dataDirectory);
  if (instance === null || !isAlive(instance.pid)) return [];
  const parts = instance.parts.flatMap(({ name, pid }) => (pid === null ? [] : [{ name, pid }]));
  return [{ name: 'the supervisor', pid: instance.pid }, ...parts];
}

/** The file of a platform that was killed stays behind. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function runningDatabaseUrl(dataDirectory: string): string {
  const instance = readInstance(dataDirectory);
  if (instance === null) {
    throw new StartError(
      'platform_starting',
      'The platform on this data folder is starting or stopping. Try again in a moment.',
    );
  }
  return instance.databaseUrl;
}

function readInstance(dataDirectory: string): InstanceFile | null {
  const file = instanceFile(dataDirectory);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as InstanceFile) : null;
}
