// The folder in which the bridge keeps everything: its key and its accounts. One process at a time writes in it.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { writeDurably } from './cards.ts';

/** Why the bridge cannot start, in words for its operator. */
export class BridgeStartError extends Error {}

export interface StoreFolder {
  readonly accounts: string;
  /** 32 bytes. */
  readonly key: Buffer;
  close(): void;
}

/**
 * Makes the folder where it is missing, locks it for this process (by flock(2), which ends with the process) and reads
 * its key.
 *
 * @throws BridgeStartError
 */
export async function openStoreFolder(folder: string): Promise<StoreFolder> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    const accounts = path.join(folder, 'accounts');
    mkdirSync(accounts, { recursive: true, mode: 0o700 });
    return { accounts, key: await openKey(folder, accounts), close: () => closeSync(lock) };
  } catch (error) {
    closeSync(lock);
    throw error;
  }
}

function lockFolder(folder: string): number {
  const lock = openSync(path.join(folder, 'lock'), constants.O_RDWR | constants.O_CREAT, 0o600);
  // Node has no flock. The lock is of the open file, which the helper shares with this process.
  const { error, status } = spawnSync('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', lock] });
  if (error === undefined && status === 0) return lock;
  closeSync(lock);
  if (error !== undefined)
    throw new BridgeStartError('The program flock could not be run, and it guards the store. Install util-linux.');
  throw new BridgeStartError(`Another messaging bridge works in ${folder}. Stop it first.`);
}

/** A key that is missing beside accounts is not made anew: nothing could read them. */
async function openKey(folder: string, accounts: string): Promise<Buffer> {
  const file = path.join(folder, 'bridge.key');
  if (!existsSync(file)) {
    if (readdirSync(accounts).length > 0)
      throw new BridgeStartError(
        `${file} is missing, and the accounts in ${accounts} are sealed with it. Put it back; without it their messages are lost, and ${accounts} has to be moved away.`,
      );
    await writeDurably(file, Buffer.from(`${randomBytes(32).toString('hex')}\n`));
  }
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new BridgeStartError(`${file} is no key of a messaging bridge.`);
  return Buffer.from(text, 'hex');
}
