// Cleans up after a crash: server processes that still run on the data, and lock files whose process id now belongs to
// another process.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError, systemCode } from '../../config/start-error.ts';

/** How long a shutdown that writes everything down may take before it is made an abrupt one. */
export const fastShutdownMs = 8_000;
const abruptShutdownMs = 1_500;

/**
 * Ends every PostgreSQL process that works on `data` and removes a lock file that only looks alive.
 *
 * The caller holds the data folder's lock, so no server in use can match. Processes are identified by their working
 * folder, which is the data folder for PostgreSQL and not for a process with a reused id.
 *
 * @throws {StartError} `postgres_still_running` when a process cannot be ended.
 */
export async function clearLeftovers(data: string, log: (message: string) => void): Promise<void> {
  const lockFile = path.join(data, 'postmaster.pid');
  const locked = readLockedPid(lockFile);
  if (locked === undefined) return;
  const processes = serverProcesses(data);
  if (processes.length > 0) {
    log('An earlier PostgreSQL server still runs on this data; stopping it.');
    await endAll(data, processes.includes(locked) ? locked : undefined);
  }
  // PostgreSQL itself handles the number of a process that is gone. It must not delete the file of
  // one that lives, but we know that this one is not a server on this data.
  if (readLockedPid(lockFile) === locked && fs.existsSync(`/proc/${locked}`)) fs.rmSync(lockFile, { force: true });
}

/** Removes sockets and lock files left by a crash; no process listens on them any more. */
export function clearSockets(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('.s.PGSQL.')) fs.rmSync(path.join(folder, name), { force: true });
  }
}

function readLockedPid(file: string): number | undefined {
  try {
    const pid = Math.abs(Number.parseInt(fs.readFileSync(file, 'utf8'), 10));
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The live processes of a server on `data`, by number. */
export function serverProcesses(data: string): number[] {
  const wanted = fs.statSync(data);
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const folder = fs.statSync(`/proc/${name}/cwd`);
        if (folder.dev !== wanted.dev || folder.ino !== wanted.ino) return false;
        // Excludes other processes, such as a shell whose working folder this is.
        return path.basename(fs.readlinkSync(`/proc/${name}/exe`)).startsWith('postgres');
      } catch {
        // Another user's process, which cannot be this platform's server, or one that has just ended.
        return false;
      }
    })
    .map(Number);
}

/** Kills the processes of a cluster whose data is disposable, such as an incomplete one. */
export async function endAbruptly(data: string): Promise<void> {
  if (serverProcesses(data).length > 0) await endAll(data, undefined);
}

async function endAll(data: string, postmaster: number | undefined): Promise<void> {
  if (postmaster !== undefined) {
    signal([postmaster], 'SIGINT');
    if (await allGone(data, fastShutdownMs)) return;
  }
  // Sessions whose first process is gone have lost their work already.
  signal(serverProcesses(data), 'SIGQUIT');
  if (await allGone(data, abruptShutdownMs)) return;
  signal(serverProcesses(data), 'SIGKILL');
  if (await allGone(data, abruptShutdownMs)) return;
  throw new StartError(
    'postgres_still_running',
    `An earlier PostgreSQL server (process ${serverProcesses(data).join(', ')}) cannot be stopped. End it, then start again.`,
  );
}

async function allGone(data: string, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (serverProcesses(data).length > 0) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

function signal(processes: readonly number[], name: NodeJS.Signals): void {
  for (const pid of processes) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
  }
}
