// Publishes a package: receives and verifies it, then in one transaction claims the app, adds the version, and puts
// the files in their place.
import * as path from 'node:path';
import type { Readable } from 'node:stream';
import { limits, type Manifest, refuse } from '@platform/contract';
import type { Transaction } from 'kysely';
import { guardUpload } from '../../blobs/guard-upload.ts';
import { hasNoRoom } from '../../blobs/scratch.ts';
import { syncFolder } from '../../blobs/sync-folder.ts';
import type { CoreConfig } from '../../config/config.ts';
import { isDiskFull } from '../../config/disk-space.ts';
import { systemCode } from '../../config/start-error.ts';
import type { CoreContext } from '../../context.ts';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';
import { diskLeft, diskQuota, requireAccountDisk } from '../../disk/face.ts';
import { drawIcon } from '../icons/drawn-icon.ts';
import { IconDrawer } from '../icons/icon-drawer.ts';
import { packageBlobs } from '../package-file.ts';
import { packageFault } from '../packages/package-fault.ts';
import {
  type ExpectedPackage,
  misfit,
  type PackageScratch,
  type VerifiedPackage,
  type VerifyPackage,
  verifyPackage,
} from '../packages/verify-package.ts';
import { isPlatformAppId } from '../platform-app-ids.ts';
import {
  type AppOwner,
  claimApp,
  findOwner,
  insertVersion,
  listVersions,
  setNewest,
  versionExists,
} from '../queries.ts';
import { newestVersion } from './newest-version.ts';
import { countPublished, findWithdrawn } from './withdraw-queries.ts';

/** What publishing needs of core. */
export type PublishContext = Pick<CoreContext, 'database' | 'pool' | 'clock'> & {
  readonly config: Pick<CoreConfig, 'packagesDirectory' | 'accountDiskBytes'>;
  /** Default: in this thread, as where no requests wait for it. */
  readonly verify?: VerifyPackage;
  /** Default: one of its own. */
  readonly drawer?: IconDrawer;
};

/** A version that is in the catalog. `hash` is the SHA-256 of the package, hexadecimal; `size` its bytes as uploaded. */
export interface PublishedPackage {
  readonly appId: string;
  readonly version: string;
  readonly hash: string;
  readonly size: number;
  readonly manifest: Manifest;
}

export interface PublishRequest {
  readonly appId: string;
  readonly version: string;
  /** Internal key of the publishing account. */
  readonly publisher: string;
  /** Read once, never destroyed, so that a refusal can still be answered. */
  readonly source: Readable;
  /** Of the upload, where it is known beforehand: what is too large is refused unread. */
  readonly size?: number | undefined;
  /** Rejects when the publisher may no longer publish; asked again once the upload is here. Default: it may. */
  readonly stillAllowed?: () => Promise<unknown>;
  /** A part of the transaction that publishes, once the app is claimed. Default: nothing. */
  readonly publishing?: (trx: Transaction<DatabaseSchema>) => Promise<void>;
}

/**
 * Publishes a version for an account.
 *
 * @throws RefusalError `not_authorized` when the app belongs to another account or to the platform, or the publisher has too many apps or
 *   versions, `version_exists` also for other bytes than a deleted version had, `disk_quota`,
 *   `payload_too_large`, `unavailable` when the disk is full, or `invalid_request` for what is wrong with the package
 */
export function publishPackage(context: PublishContext, request: PublishRequest): Promise<PublishedPackage> {
  return receiveFrom(context, request, async (scratch, verified) => {
    await request.stillAllowed?.();
    await commit(context, scratch, verified, request);
    return answerOf(verified);
  });
}

/** Whether {@link publishPackage} would take it now, as far as that can be known before. Nothing of it is kept. */
export function checkPackage(context: PublishContext, request: PublishRequest): Promise<PublishedPackage> {
  return receiveFrom(context, request, async (_, verified) => answerOf(verified));
}

async function receiveFrom<Result>(
  context: PublishContext,
  request: PublishRequest,
  use: (scratch: PackageScratch, verified: VerifiedPackage) => Promise<Result>,
): Promise<Result> {
  const { appId, version, publisher } = request;
  // Asked before the upload is read, to spare it; asked again where it counts.
  const owner = await findOwner(context.database, appId);
  // What an account published before the platform came with an app of that id stays its own.
  if (owner === undefined && isPlatformAppId(appId))
    throw refuse('not_authorized', `The platform keeps the app id ${appId} for an app of its own. Choose another id.`);
  checkOwner(owner, publisher);
  if (await versionExists(context.database, appId, version)) throw versionTaken(appId, version);
  const { packagesDirectory } = context.config;
  const left = await diskLeft(context, publisher);
  const exceeded = () => diskQuota(context.config, { left, needed: `Version ${version} of ${appId} does not fit` });
  if ((request.size ?? 1) > left) throw exceeded();
  if (isDiskFull(packagesDirectory)) throw diskFull();
  return await inScratch(context, async (scratch) => {
    const upload = guardUpload(request.source, packagesDirectory, { most: left, exceeded, diskFull });
    const expected = { identity: { appId, version }, system: false } as const;
    const verified = await receive(context, { source: upload.source, scratch, expected })
      .catch((error: unknown) => {
        throw upload.refusal() ?? error;
      })
      // Lets go of the upload, whose rest is read away by others.
      .finally(() => upload.source.destroy());
    return await use(scratch, verified);
  });
}

/** Publishes a package that comes with the platform, under the identity in its manifest. */
export async function publishSystemPackage(context: PublishContext, source: Readable): Promise<PublishedPackage> {
  return await inScratch(context, async (scratch) => {
    const verified = await receive(context, { source, scratch, expected: { system: true } });
    await commit(context, scratch, verified, { publisher: null });
    return answerOf(verified);
  });
}

/** Puts the files of a package that is published already back into their place. */
export async function restorePackage(context: PublishContext, source: Readable): Promise<PublishedPackage> {
  return await inScratch(context, async (scratch) => {
    const verified = await receive(context, { source, scratch, expected: { system: true } });
    await place(context, scratch, verified.hash);
    return answerOf(verified);
  });
}

function inScratch<Result>(
  context: PublishContext,
  work: (scratch: PackageScratch) => Promise<Result>,
): Promise<Result> {
  return packageBlobs(context).receive(context.pool, (folder) =>
    work({ blob: path.join(folder, 'package.tgz'), unpacked: path.join(folder, 'unpacked') }),
  );
}

function place(context: PublishContext, { blob, unpacked }: PackageScratch, hash: string): Promise<void> {
  return packageBlobs(context).keep({ hash, file: blob, unpacked });
}

function diskFull() {
  return refuse(
    'unavailable',
    'The disk of the platform is full, so nothing can be published. Its operator has to make space.',
  );
}

function answerOf({ hash, size, manifest }: VerifiedPackage): PublishedPackage {
  return { appId: manifest.id, version: manifest.version, hash, size, manifest };
}

interface Upload {
  readonly source: Readable;
  readonly scratch: PackageScratch;
  readonly expected: ExpectedPackage;
}

async function receive(
  { verify = verifyPackage, drawer = new IconDrawer() }: PublishContext,
  { source, scratch, expected }: Upload,
): Promise<VerifiedPackage> {
  try {
    const verified = await verify(source, scratch, expected);
    return await withIconDrawn(drawer, scratch, verified);
  } catch (error) {
    if (hasNoRoom(error)) throw diskFull();
    const code = systemCode(error);
    if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
      throw packageFault('The upload ended before the package was complete.');
    throw error;
  }
}

/** What is drawn is unpacked too. */
async function withIconDrawn(
  drawer: IconDrawer,
  { unpacked: folder }: PackageScratch,
  verified: VerifiedPackage,
): Promise<VerifiedPackage> {
  const { icon } = verified.manifest;
  if (icon === undefined) return verified;
  const drawn = await drawIcon(drawer, folder, icon);
  if ('fault' in drawn) throw misfit([{ path: 'icon', message: drawn.fault }]);
  await syncFolder(folder);
  return { ...verified, unpacked: verified.unpacked + drawn.bytes };
}

async function commit(
  context: PublishContext,
  scratch: PackageScratch,
  { hash, size, unpacked, frontendDigest, manifest }: VerifiedPackage,
  {
    publisher,
    publishing,
  }: Pick<PublishRequest, 'publishing'> & { readonly publisher: PublishRequest['publisher'] | null },
): Promise<void> {
  const now = context.clock();
  await context.database.transaction().execute(async (trx) => {
    const app = { appId: manifest.id, ownerKey: publisher, system: publisher === null, now };
    checkOwner(await claimApp(trx, app), publisher);
    if (publisher !== null) {
      const what = `Version ${manifest.version} of ${manifest.id}`;
      await requireAccountDisk(trx, context, { accountKey: publisher, bytes: Math.max(size, unpacked), what });
      await requirePlace(trx, publisher, manifest.id);
      const former = await findWithdrawn(trx, manifest.id, manifest.version);
      if (former !== undefined && former !== hash) throw versionTaken(manifest.id, manifest.version);
    }
    await publishing?.(trx);
    if (!(await insertVersion(trx, { hash, size, unpacked, frontendDigest, manifest, now })))
      throw versionTaken(manifest.id, manifest.version);
    const versions = await listVersions(trx, manifest.id);
    await setNewest(trx, manifest.id, newestVersion(versions));
    // Last before the commit: when it fails nothing is published, and when the process dies here the start sweeps.
    await place(context, scratch, hash);
  });
}

/**
 * One more version of an app that is claimed already. The account is locked, so that of many at once no more pass than fit.
 *
 * @throws RefusalError `not_authorized`
 */
async function requirePlace(trx: Executor, ownerKey: string, appId: string): Promise<void> {
  const { appsPerAccount, versionsPerApp } = limits;
  const { apps, versions } = await countPublished(trx, { ownerKey, appId });
  if (apps > appsPerAccount.value)
    throw refuse(
      'not_authorized',
      `An account has at most ${appsPerAccount.value} apps. Publish under an id you have.`,
    );
  if (versions >= versionsPerApp.value) {
    const most = versionsPerApp.value.toLocaleString('en');
    throw refuse('not_authorized', `An app has at most ${most} versions, deleted ones included. Use another id.`);
  }
}

function checkOwner(owner: AppOwner | undefined, publisher: string | null): void {
  if (owner === undefined) return;
  if (publisher === null ? !owner.system : owner.ownerKey !== publisher)
    throw refuse('not_authorized', 'The app id belongs to another publisher. Choose another id.');
}

function versionTaken(appId: string, version: string) {
  return refuse('version_exists', `Version ${version} of ${appId} was already published. Raise the version.`);
}
