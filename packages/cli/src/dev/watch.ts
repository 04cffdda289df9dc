// What a folder holds, whenever that changed. It is looked at again and again instead of being watched: however an editor
// saves, whatever git checks out, and also where the folder is deleted and made anew, the files say so themselves.
import { createHash, type Hash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_MS = 300;
/** A large folder is looked at less often: looking takes at most this part of the time. */
const SHARE = 1 / 10;
/** Files that were changed together are taken together: this long nothing changes. */
const QUIET_MS = 200;
/** What changes all the time is taken as it is. */
const LONGEST_BURST_MS = 3_000;

/** Yields at the beginning and whenever the folder holds something else and a burst of changes is over. */
export async function* statesOf(folder: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  let known: string | undefined;
  while (!signal.aborted) {
    const began = performance.now();
    let state = await folderState(folder);
    const took = performance.now() - began;
    for (const end = began + LONGEST_BURST_MS; state !== known && performance.now() < end; ) {
      await pause(QUIET_MS, signal);
      const next = await folderState(folder);
      if (next === state) break;
      state = next;
    }
    if (signal.aborted) return;
    if (state !== known) {
      known = state;
      yield state;
    }
    await pause(Math.max(LOOK_MS, took / SHARE), signal);
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Names, places on the disk, sizes and times of all that is packed: equal while nothing changed. */
export async function folderState(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const part of ['frontend', 'workload']) {
    const entries = await readdir(path.join(folder, part), { recursive: true }).catch(() => []);
    for (const name of entries.sort()) if (!isHidden(name)) await addFacts(hash, path.join(folder, part, name));
  }
  for (const name of ['manifest.json', 'package.json', 'package-lock.json'])
    await addFacts(hash, path.join(folder, name));
  return hash.digest('hex');
}

/** Swap files of editors come and go without a change of what is packed. */
function isHidden(name: string): boolean {
  return name.split(path.sep).some((part) => part.startsWith('.'));
}

async function addFacts(hash: Hash, file: string): Promise<void> {
  // A file that is gone by now brings a change of its own.
  const facts = await lstat(file).catch(() => null);
  if (facts?.isDirectory() !== true) hash.update(`${file}\0${facts?.ino}\0${facts?.size}\0${facts?.mtimeMs}\0`);
}
