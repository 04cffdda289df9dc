// Puts the apps that come with the platform into the catalog at each start.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { RefusalError } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { packageBlobs, packageFile } from '../package-file.ts';
import { hashOfFile } from '../packages/frontend-digest.ts';
import { findPublishedHashes } from '../queries.ts';
import { type PublishedPackage, publishSystemPackage, restorePackage } from './publish-package.ts';

/**
 * Clears what a crash left in the packages folder and publishes those of `files` that are not published yet.
 * To be called once, before the first request. A package that cannot be published is logged and left out:
 * the platform is of use without it.
 *
 * @returns the SHA-256 of each file, hexadecimal
 * @throws Error when a file cannot be read
 */
export async function ensureSystemPackages(
  context: CoreContext,
  files: readonly { readonly path: string }[],
): Promise<string[]> {
  await packageBlobs(context).sweep(context.pool, (hashes) => findPublishedHashes(context.database, hashes));
  const hashed = await Promise.all(files.map(async (file) => ({ ...file, ...(await hashOfFile(file.path)) })));
  const published = await findPublishedHashes(
    context.database,
    hashed.map(({ hash }) => hash),
  );
  for (const { path, hash } of hashed) {
    // A new data folder on an older database knows the version but has no files; a disk may have altered one.
    if (!published.has(hash)) await put(context, { path, hash }, publishSystemPackage);
    else if (!(await isStored(context, hash))) await put(context, { path, hash }, restorePackage);
  }
  return hashed.map(({ hash }) => hash);
}

async function put(
  context: CoreContext,
  { path, hash }: { readonly path: string; readonly hash: string },
  store: (context: CoreContext, source: Readable) => Promise<PublishedPackage>,
): Promise<void> {
  const source = createReadStream(path);
  try {
    const { appId, version } = await store(context, source);
    context.log.debug({ appId, version }, 'published a system app');
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    // Of replicas that start together one publishes and the others find it done.
    if ((await findPublishedHashes(context.database, [hash])).has(hash)) return;
    const { code, detail, errors } = error.refusal;
    context.log.error({ path, code, detail, errors }, 'a system app could not be published');
  } finally {
    source.destroy();
  }
}

async function isStored(context: CoreContext, hash: string): Promise<boolean> {
  const stored = await hashOfFile(packageFile(context, hash)).catch(() => null);
  return stored?.hash === hash;
}
