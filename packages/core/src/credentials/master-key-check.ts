// Whether the master key is the one that the secrets in the database were sealed with: found out at the start, for at the
// first use of a secret it would be too late to say so, and a new key would seal further ones that the right key cannot
// open.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { readMasterKey } from '../config/env.ts';
import { reasonOf, StartError } from '../config/start-error.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open-database.ts';
import type { Executor } from '../database/schema.ts';
import { keyedHash } from './master-key.ts';
import { keepProof, selectProof } from './queries.ts';

const PURPOSE = 'master-key-check';

export interface KeyCheck {
  readonly database: Executor;
  readonly masterKey: Buffer;
  /** Whether the key opens what is sealed in a database from before the proof; true where nothing is. */
  readonly opensFormerSecrets: () => Promise<boolean>;
}

/**
 * The first key of a database becomes its key.
 *
 * @throws StartError `master_key_wrong`
 */
export async function requireMasterKey({ database, masterKey, opensFormerSecrets }: KeyCheck): Promise<void> {
  const proof = keyedHash(masterKey, PURPOSE, 'v1');
  const known = await selectProof(database);
  if (known == null) {
    if (known === null && !(await opensFormerSecrets())) throw wrongKey();
    await keepProof(database, proof);
  }
  const kept = known ?? (await selectProof(database));
  if (kept == null || !timingSafeEqual(kept, proof)) throw wrongKey();
}

function wrongKey(): StartError {
  return new StartError(
    'master_key_wrong',
    'The master key is not the one that the secrets in this database were sealed with. Restore the file named by PLATFORM_MASTER_KEY_FILE (by default master.key in the data folder) from the same backup as the database; cores on one database need one key.',
  );
}

/**
 * Reads the master key, and makes one for a database without secrets.
 *
 * @throws StartError `master_key_missing` when the database needs the one that is not there; `master_key_unusable` when
 *   it cannot be read or made; `wrong_variable` when the file does not hold a key
 */
export async function openMasterKey(file: string, databaseUrl: string): Promise<Buffer> {
  if (!existsSync(file)) {
    await migrate(databaseUrl);
    await refuseWithoutKey(file, databaseUrl);
    makeKey(file);
  }
  return readMasterKey(file);
}

/**
 * Of a database with the schema of this version.
 *
 * @throws StartError `master_key_missing` when the database has secrets, and so a key that is not at `file`
 */
export async function refuseWithoutKey(file: string, databaseUrl: string): Promise<void> {
  const { database, close } = openDatabase({ url: databaseUrl, connections: 1, onError: () => undefined });
  try {
    if ((await selectProof(database)) === undefined) return;
  } finally {
    await close();
  }
  throw new StartError(
    'master_key_missing',
    `The master key is missing: it was expected at ${file}, and secrets in the database are sealed with it. Restore the file from your backup, or set PLATFORM_MASTER_KEY_FILE to where it is. No other key opens them.`,
  );
}

function makeKey(file: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    throw new StartError(
      'master_key_unusable',
      `The master key ${file} cannot be created: ${reasonOf(error)}. Set PLATFORM_MASTER_KEY_FILE to a place that can be written.`,
    );
  }
}
