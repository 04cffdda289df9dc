// Locks between processes, also on different machines that share a folder, by flock(2). Node has none: a helper of
// util-linux takes it on an open file that it shares with us. The lock ends when that is closed, or with this process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fstatSync, statSync } from 'node:fs';

export interface LockOptions {
  /** Seconds to wait for others to let go. Default: 0, not at all. */
  readonly waitSeconds?: number;
  /** Gives up waiting; rejects then. */
  readonly signal?: AbortSignal;
}

/** The exit code of flock when another process holds the lock. */
const CONFLICT = 1;

/**
 * @param descriptor of a file or folder that this process has open
 * @param kind any number of holders `shared`, or one `exclusive`
 * @returns false when others still hold it
 * @throws Error when files cannot be locked here
 */
export async function lockFile(
  descriptor: number,
  kind: 'shared' | 'exclusive',
  { waitSeconds = 0, signal }: LockOptions = {},
): Promise<boolean> {
  const helper = spawn('flock', [`--${kind}`, '--timeout', String(waitSeconds), '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    ...(signal === undefined ? {} : { signal }),
  });
  const [code] = await once(helper, 'close');
  if (code !== 0 && code !== CONFLICT) throw new Error(`A file could not be locked: flock ended with ${code}.`);
  return code === 0;
}

/** Whether the open file is still the one at that path, not removed or replaced meanwhile. */
export function standsAt(descriptor: number, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const { dev, ino } = fstatSync(descriptor);
  return there !== undefined && there.dev === dev && there.ino === ino;
}
