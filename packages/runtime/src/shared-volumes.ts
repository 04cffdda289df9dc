// Volumes in a folder that several nodes share. A volume is opened by one start at a time: under a lock that ends with
// this process, and only with an epoch that is newer than the last one seen here. Core counts the epochs up.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type DriverReport, LaunchError, StartRefused } from './drivers/driver.ts';
import { lockFile } from './file-lock.ts';
import { examineVolumes, type VolumeState } from './volumes/examine-volumes.ts';
import { openKnownVolumes } from './volumes/known-volumes.ts';

export interface SharedVolumes {
  /** Identity of the folder, the same on every node that has it. */
  readonly store: string;
  /**
   * Opens the volume of an installation for the start with this epoch. Waits some seconds for another holder.
   *
   * @throws StartRefused for an epoch of the past, or when a volume that was made is gone; LaunchError while another start holds the volume
   */
  claim(
    installationId: string,
    start: { readonly epoch: number; readonly uid: number | undefined; readonly abort: AbortSignal },
  ): Promise<VolumeClaim>;
  /** Deletes the volume of an installation. @throws LaunchError while a start holds it */
  remove(installationId: string, abort: AbortSignal): Promise<void>;
}

export interface VolumeClaim {
  readonly folder: string;
  /** Call after the end of the workload. */
  release(): Promise<void>;
}

const STORE_FILE = '.platform-store';
const LOCKS = '.platform-locks';
const KNOWN = '.platform-known';
/** A node that gives a volume up kills what does not stop by then. */
const LOCK_SECONDS = 8;

/**
 * `undefined` without such a folder, and under a driver whose workloads outlive this process: the lock would not.
 *
 * @throws Error when the folder is not there or cannot be written
 */
export function openSharedVolumes(directory: string | undefined, { driver }: DriverReport): SharedVolumes | undefined {
  if (directory === undefined || driver !== 'process') return undefined;
  const locks = join(directory, LOCKS);
  mkdirSync(locks, { recursive: true, mode: 0o700 });
  // Workloads are other users; what is not theirs below is closed.
  if (process.getuid?.() === 0) chmodSync(directory, 0o711);
  const volumes = readdirSync(directory).filter((name) => !name.startsWith('.'));
  const known = openKnownVolumes(join(directory, KNOWN), volumes);
  return {
    store: storeIdentity(directory),
    async claim(installationId, { epoch, uid, abort }) {
      const file = await open(join(locks, installationId), 'a+', 0o600);
      try {
        if (!(await lockFile(file.fd, 'exclusive', { waitSeconds: LOCK_SECONDS, signal: abort })))
          throw new LaunchError('Its volume is still in use on another machine.', `locked for ${LOCK_SECONDS} s`);
        const folder = join(directory, installationId);
        if (known.kindOf(installationId) !== null && !existsSync(folder))
          throw new StartRefused(
            `Its volume is missing in the shared folder: it was ${folder}. Restore it from a backup, and start the app again. To begin without its data, remove the file ${known.fileOf(installationId)} first.`,
          );
        await pass(file, epoch);
        await prepare(folder, uid);
        known.add(installationId, 'folder');
        return { folder, release: () => file.close() };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    async remove(installationId, abort) {
      const file = await open(join(locks, installationId), 'a+', 0o600);
      try {
        if (!(await lockFile(file.fd, 'exclusive', { waitSeconds: LOCK_SECONDS, signal: abort })))
          throw new LaunchError('Its volume is still in use on another machine.', `locked for ${LOCK_SECONDS} s`);
        // The lock file stays: it holds the last epoch.
        // First: were this process to end in between, a folder that is left would be known again, and one that is gone not missed.
        known.forget(installationId);
        await rm(join(directory, installationId), { recursive: true, force: true });
      } finally {
        await file.close();
      }
    },
  };
}

/** Looks at the volumes in a shared folder, and changes nothing. */
export function examineSharedVolumes(directory: string): AsyncGenerator<VolumeState> {
  return examineVolumes(directory, join(directory, KNOWN));
}

/** The first node names the folder; all others find that name. */
function storeIdentity(directory: string): string {
  const file = join(directory, STORE_FILE);
  if (!existsSync(file)) {
    const draft = `${file}.${randomUUID()}`;
    writeFileSync(draft, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600, flush: true });
    try {
      linkSync(draft, file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      rmSync(draft);
    }
  }
  return z.uuid().parse(readFileSync(file, 'utf8').trim());
}

/** Lets an epoch through that is newer than the last one, and keeps it on disk before anything may be written. */
async function pass(file: FileHandle, epoch: number): Promise<void> {
  const text = (await file.readFile('utf8')).trim();
  const last = text === '' ? 0 : Number(text);
  if (!Number.isSafeInteger(last)) throw new StartRefused('The epoch file of its shared volume cannot be read.');
  if (epoch <= last) throw new LaunchError('A newer start uses its volume.', `epoch ${epoch} after ${last}`);
  await file.truncate(0);
  await file.write(`${epoch}\n`);
  await file.sync();
}

/** The folder, for this node's user of the installation: each node counts users from its own. */
async function prepare(folder: string, uid: number | undefined): Promise<void> {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  if (uid === undefined || lstatSync(folder).uid === uid) return;
  // Nothing runs in it: the lock is ours. Links are changed themselves, not what they point to.
  const chown = spawn('chown', ['-R', '-h', '-P', '--', `${uid}:${uid}`, folder], { stdio: 'ignore' });
  const [code] = await once(chown, 'close');
  if (code !== 0) throw new LaunchError('The owner of its volume could not be changed.', `chown ended with ${code}`);
}
