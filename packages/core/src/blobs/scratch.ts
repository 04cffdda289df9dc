// Folders for what is still being received. Each belongs to one reception, which removes it; what a killed process left, a
// sweep removes.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import * as path from 'node:path';
import { systemCode } from '../config/start-error.ts';

export interface Scratch {
  readonly folder: string;
  /** Removes the folder and all that is in it. */
  close(): Promise<void>;
}

/** @param parent where these folders lie, on a disk with room; made when it is missing */
export async function openScratch(parent: string): Promise<Scratch> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(path.join(parent, 'body-'));
  return { folder, close: () => rm(folder, { recursive: true, force: true }) };
}

/** Whether writing failed because the disk is full, or what its user may write there. */
export function hasNoRoom(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
