// What a platform or a node may have left on this machine after its end: processes, mounts, control groups, sockets.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** No process names the data folder, nothing is mounted or listens in it, and no control group is named after it. */
export async function nothingLeft(dataDirectory: string): Promise<void> {
  const { dev, ino } = statSync(dataDirectory);
  const groupName = `platform-${dev.toString(36)}-${ino.toString(36)}`;
  const leftovers = () => [
    ...readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => readOrNothing(`/proc/${pid}/cmdline`).includes(dataDirectory))
      .map((pid) => `process ${pid}: ${readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`),
    ...linesOf('/proc/self/mounts').filter((line) => line.includes(dataDirectory)),
    ...linesOf('/proc/net/unix').filter((line) => line.includes(dataDirectory)),
    ...sockets(dataDirectory),
    ...controlGroups(groupName),
  ];
  const limit = AbortSignal.timeout(15_000);
  for (let left = leftovers(); left.length > 0; left = leftovers()) {
    assert.ok(!limit.aborted, left.join('\n'));
    // What is looked for is ended by processes that need the processor too.
    await delay(20);
  }
}

/** Socket files of the folder, also those that nobody listens on any more. */
function sockets(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSocket())
    .map((entry) => `socket ${join(entry.parentPath, entry.name)}`);
}

/** Folders of that name in every hierarchy that this user can see. */
function controlGroups(name: string): string[] {
  const hierarchies = linesOf('/proc/self/mounts')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2');
  return hierarchies.flatMap(([, root = '']) => foldersNamed(name, root));
}

function foldersNamed(name: string, folder: string): string[] {
  return foldersIn(folder).flatMap((entry) => {
    const path = join(folder, entry);
    return [...(entry === name ? [path] : []), ...foldersNamed(name, path)];
  });
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    // Groups of others come and go while we look.
    return [];
  }
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n');
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process ended while we looked.
    return '';
  }
}
