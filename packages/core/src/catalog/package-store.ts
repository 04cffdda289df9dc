// Where packages lie on the disk: `<hash>.tgz` as uploaded, `<hash>/frontend/…` unpacked for app hosts, and
// `incoming/` for what is still being received. Complete things appear by renaming, so a crash leaves scratch only.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import type { CoreContext } from '../context.ts';
import { syncFolder } from './frontend-writer.ts';
import { PACKAGE_HASH, packageFile, type StoreContext, unpackedFolder } from './package-file.ts';
import type { PackageScratch } from './verify-package.ts';

/** Runs `work` with a scratch folder on the disk of the packages and removes it afterwards, whatever happened. */
export async function withScratch<Result>(
  context: StoreContext & Pick<CoreContext, 'random'>,
  work: (scratch: PackageScratch) => Promise<Result>,
): Promise<Result> {
  const folder = path.join(context.config.packagesDirectory, 'incoming', context.random(12).toString('hex'));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work({ blob: path.join(folder, 'package.tgz'), unpacked: path.join(folder, 'unpacked') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Moves a verified package to its place, durably. What is there already holds the same bytes and stays.
 * Run it inside the transaction that publishes: of two publishers of one package only the winner comes here.
 */
export async function placePackage(context: StoreContext, scratch: PackageScratch, hash: string): Promise<void> {
  const unpacked = unpackedFolder(context, hash);
  if (existsSync(scratch.unpacked) && !existsSync(unpacked)) await rename(scratch.unpacked, unpacked);
  await rename(scratch.blob, packageFile(context, hash));
  await syncFolder(context.config.packagesDirectory);
}

/**
 * Removes what crashed uploads left: scratch, and complete packages that were placed but never committed.
 * Nothing may be received or committed meanwhile, by any replica (upload-lock.ts).
 *
 * @param isPublished which of the given hashes the database knows
 */
export async function sweepPackages(
  context: StoreContext,
  isPublished: (hashes: string[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  await mkdir(context.config.packagesDirectory, { recursive: true, mode: 0o700 });
  await rm(path.join(context.config.packagesDirectory, 'incoming'), { recursive: true, force: true });
  const names = await readdir(context.config.packagesDirectory);
  const placed = names.filter((name) => PACKAGE_HASH.test(name.replace(/\.tgz$/, '')));
  const published = await isPublished([...new Set(placed.map((name) => name.replace(/\.tgz$/, '')))]);
  for (const name of placed) {
    if (!published.has(name.replace(/\.tgz$/, '')))
      await rm(path.join(context.config.packagesDirectory, name), { recursive: true, force: true });
  }
}
