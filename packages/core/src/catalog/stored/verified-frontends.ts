// The unpacked frontends of packages, each compared with what was recorded when it was published before this process first serves
// a file of it: a disk, a partial restore or a hand may have altered it (docs/decisions/verified-frontends.md).
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import { RefusalError, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import { hasNoRoom } from '../../blobs/scratch.ts';
import { syncFolder } from '../../blobs/sync-folder.ts';
import { reasonOf } from '../../config/start-error.ts';
import type { CoreContext } from '../../context.ts';
import { DRAWN_ICON } from '../icons/drawn-icon.ts';
import { frontendFolder, packageBlobs, packageFile } from '../package-file.ts';
import { digestOfFolder } from '../packages/frontend-digest.ts';
import { unpackFrontend } from '../packages/unpack-frontend.ts';
import { findStored, recordDigest, type StoredPackage } from './queries.ts';

type Context = Pick<CoreContext, 'config' | 'database' | 'pool' | 'log' | 'clock'>;

const REMEMBERED = 100_000;
/** A stopped frontend is looked at again after this, so that a restored package is served without a restart. */
const STOPPED_MILLISECONDS = 60_000;

interface Stopped {
  readonly until: number;
}

/** Keeps what it has verified until the process ends. */
export class VerifiedFrontends {
  readonly #context: Context;
  readonly #verified = new LRUCache<string, true>({ max: REMEMBERED });
  readonly #stopped = new LRUCache<string, Stopped>({ max: REMEMBERED });
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * Where the static files of a package lie, which are those that were published.
   *
   * @throws RefusalError `unavailable` when they are not, and cannot be unpacked again
   */
  async folder(hash: string): Promise<string> {
    if (!this.#verified.has(hash)) {
      if (this.#isStopped(hash)) throw damaged();
      const verifying = this.#underWay.get(hash) ?? this.#verify(hash).finally(() => this.#underWay.delete(hash));
      this.#underWay.set(hash, verifying);
      await verifying;
    }
    return frontendFolder(this.#context, hash);
  }

  /** Not any longer than that, also where the clock was set back. */
  #isStopped(hash: string): boolean {
    const left = (this.#stopped.get(hash)?.until ?? 0) - this.#context.clock().getTime();
    return left > 0 && left <= STOPPED_MILLISECONDS;
  }

  async #verify(hash: string): Promise<void> {
    const stored = await findStored(this.#context.database, hash);
    if (stored?.hasFrontend !== true) return;
    const found = await digestOfFolder(frontendFolder(this.#context, hash)).catch(() => null);
    if (stored.frontendDigest === null || found !== stored.frontendDigest) await this.#unpackAgain(stored, found);
    this.#verified.set(hash, true);
  }

  async #unpackAgain(stored: StoredPackage, found: string | null): Promise<void> {
    const { log, clock } = this.#context;
    const fields = { packageHash: stored.hash, apps: stored.names };
    try {
      if (await restore(this.#context, stored, found))
        log.warn(fields, 'the files of an app were altered or missing on the disk; they were unpacked again');
    } catch (error) {
      if (!(error instanceof PackageDamage)) throw error;
      this.#stopped.set(stored.hash, { until: clock().getTime() + STOPPED_MILLISECONDS });
      log.error(
        { ...fields, reason: error.message, package: packageFile(this.#context, stored.hash) },
        'the frontend of an app is stopped: its files cannot be verified or unpacked again. Restore its package from a backup',
      );
      throw damaged();
    }
  }
}

/** The package that a frontend would be unpacked from cannot be used. */
class PackageDamage extends Error {
  override readonly name = 'PackageDamage';
}

/**
 * Unpacks a frontend from its package unless it is what the package holds, and records what it must be: its package's own hash
 * is what vouches for it.
 *
 * @param found digest of what lies there; `null` for nothing that can be read
 * @returns whether it was another one
 * @throws PackageDamage
 */
function restore(context: Context, stored: StoredPackage, found: string | null): Promise<boolean> {
  const { database, pool } = context;
  const { hash } = stored;
  return packageBlobs(context).receive(pool, async (scratch) => {
    const fresh = path.join(scratch, 'frontend');
    const unpacked = await unpackFrontend(packageFile(context, hash), fresh).catch((error: unknown) => {
      throw new PackageDamage(unusable(error), { cause: error });
    });
    if (unpacked.hash !== hash) throw new PackageDamage(`the stored package has the hash ${unpacked.hash}`);
    if (unpacked.digest !== stored.frontendDigest) await recordDigest(database, hash, unpacked.digest);
    if (unpacked.digest === found) return false;
    await exchange(packageBlobs(context).unpacked(hash), fresh, path.join(scratch, 'altered'));
    return true;
  });
}

function unusable(error: unknown): string {
  if (hasNoRoom(error)) return 'the disk is full';
  return error instanceof RefusalError
    ? (error.refusal.detail ?? error.refusal.code)
    : `the stored package cannot be read: ${reasonOf(error)}`;
}

/** Puts the fresh frontend in the place of the altered one, and drops what was drawn of that. */
async function exchange(place: string, fresh: string, aside: string): Promise<void> {
  const frontend = path.join(place, 'frontend');
  for (const folder of [place, fresh]) await mkdir(folder, { recursive: true, mode: 0o700 });
  if (existsSync(frontend)) await rename(frontend, aside);
  await rename(fresh, frontend);
  await rm(path.join(place, DRAWN_ICON), { force: true });
  await syncFolder(place);
}

function damaged(): RefusalError {
  return refuse(
    'unavailable',
    'The files of this app are damaged on the server. Its operator can restore them; the log says which.',
  );
}
