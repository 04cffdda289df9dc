// The data folders of this user that lie on disks of their own. Such a folder is empty, or not there, while its disk is not
// mounted, and nothing in it can say so: it is remembered elsewhere, in the home folder.
import { mkdirSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as z from 'zod';

const list = z.record(z.string(), z.uuid());

/** Where the list is kept (XDG Base Directory Specification, `XDG_STATE_HOME`). */
export function folderList(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_STATE_HOME: home } = env;
  const state = home !== undefined && path.isAbsolute(home) ? home : path.join(homedir(), '.local', 'state');
  return path.join(state, 'platform', 'data-folders.json');
}

/** The platform that had its data in this folder, or `null`. A list that cannot be read says nothing. */
export function rememberedPlatform(file: string, folder: string): string | null {
  return read(file)[folder] ?? null;
}

/** `TMPFS_MAGIC` and `RAMFS_MAGIC` of statfs(2): what was there is gone with the machine, or never was a disk. */
const IN_MEMORY = [0x01021994, 0x858458f6];

/** Remembers a folder that is on another disk than `/`. One that cannot be remembered is not. */
export function rememberFolder(file: string, folder: string, platform: string): void {
  if (statSync(folder).dev === statSync('/').dev || IN_MEMORY.includes(statfsSync(folder).type)) return;
  if (read(file)[folder] === platform) return;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify({ ...read(file), [folder]: platform }, null, 1)}\n`, { mode: 0o600 });
  } catch {
    // A home folder that cannot be written, as that of many services.
  }
}

function read(file: string): Readonly<Record<string, string>> {
  try {
    return list.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}
