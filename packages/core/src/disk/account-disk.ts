// The disk space of an account: its volumes at the size they were granted, the packages it published, the images of its
// backends, and its collections and files.
import { type AccountDisk, type RefusalError, refuse, sizeText } from '@platform/contract';
import { holdAccounts } from '../accounts/face.ts';
import type { CoreConfig } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import type { Executor } from '../database/schema.ts';
import {
  type ImageRow,
  type PackageRow,
  selectContentBytes,
  selectImages,
  selectPackages,
  selectUsedBytes,
  selectVolumes,
  type VolumeRow,
} from './queries.ts';

type DiskContext = Pick<CoreContext, 'database'> & { readonly config: Pick<CoreConfig, 'accountDiskBytes'> };

export async function readAccountDisk(
  { database, config, clock }: DiskContext & Pick<CoreContext, 'clock'>,
  accountKey: string,
): Promise<AccountDisk> {
  const [usedBytes, volumes, packages, images, contentBytes] = await Promise.all([
    selectUsedBytes(database, accountKey),
    selectVolumes(database, accountKey),
    selectPackages(database, { accountKey, now: clock() }),
    selectImages(database, accountKey),
    selectContentBytes(database, accountKey),
  ]);
  return {
    limitBytes: config.accountDiskBytes,
    usedBytes,
    volumes: volumes.map(({ appId, name, bytes, installed, deleting }) => ({
      appId,
      name,
      bytes,
      installed,
      deleting,
    })),
    packages: packages.map(({ appId, version, bytes, installed, keptUntil }) => ({
      appId,
      version,
      bytes,
      installed,
      keptUntil: keptUntil?.toISOString() ?? null,
    })),
    images: images.map(({ appId, name, bytes }) => ({ appId, name, bytes })),
    contentBytes,
  };
}

/** Bytes that an account may still take; negative when the operator lowered the limit. No promise: others may take them. */
export async function diskLeft({ database, config }: DiskContext, accountKey: string): Promise<number> {
  return config.accountDiskBytes - (await selectUsedBytes(database, accountKey));
}

/**
 * Makes sure that an account may take more disk. Locks the account, suspended or not, until the transaction ends, so that of several that
 * fit one by one no more pass than fit together. Call it before what is added is inserted.
 *
 * @param what the subject of the refusal: `The volume of Notes`
 * @throws RefusalError `disk_quota`
 */
export async function requireAccountDisk(
  trx: Executor,
  { config }: Pick<DiskContext, 'config'>,
  more: { readonly accountKey: string; readonly bytes: number; readonly what: string },
): Promise<void> {
  if (more.bytes <= 0) return;
  await holdAccounts(trx, [more.accountKey]);
  const left = config.accountDiskBytes - (await selectUsedBytes(trx, more.accountKey));
  if (more.bytes > left)
    throw diskQuota(config, { left, needed: `${more.what} takes ${sizeText(more.bytes, Math.ceil)}` });
}

/** @param needed what does not fit, as the beginning of a sentence */
export function diskQuota(
  { accountDiskBytes }: DiskContext['config'],
  { left, needed }: { readonly left: number; readonly needed: string },
): RefusalError {
  const rest = `${sizeText(Math.max(0, left), Math.floor)} of the ${sizeText(accountDiskBytes)} of your account are left`;
  return refuse(
    'disk_quota',
    `${needed}, and ${rest}. Delete volumes, packages, apps or files that you no longer need in Settings → Storage.`,
  );
}

/** What all accounts take, for the operator's commands on the server. Not reachable over HTTP. */
export async function listDiskUse({ database, clock }: Pick<CoreContext, 'database' | 'clock'>): Promise<{
  readonly volumes: VolumeRow[];
  readonly packages: PackageRow[];
  readonly images: ImageRow[];
}> {
  const [volumes, packages, images] = await Promise.all([
    selectVolumes(database, null),
    selectPackages(database, { accountKey: null, now: clock() }),
    selectImages(database, null),
  ]);
  return { volumes, packages, images };
}
