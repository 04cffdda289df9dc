// An app hands in another: it is packed, checked as any package that is published, and kept until its person decides.
import { Readable } from 'node:stream';
import { draftId, limits, type MadeDraft, type MakeApp, refuse } from '@platform/contract';
import { checkPackage, type PublishContext, requirePublisher } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import { type InstallationIdentity, lockOwn } from '../installations/face.ts';
import { requireMakeable } from './may-make.ts';
import { asPrivate, bytesOfFiles, packFiles } from './pack-files.ts';
import { countWaiting, deleteFormer, insertDraft, lockDrafts, type Waiting } from './queries.ts';

export type DraftContext = CoreContext & Pick<PublishContext, 'verify' | 'drawer'>;

/** Who hands in an app. */
export type Maker = Pick<InstallationIdentity, 'installationId' | 'accountKey' | 'accountName' | 'appId'>;

const DAY_MILLISECONDS = 86_400_000;

/**
 * @param stillAllowed rejects once the app may no longer; asked right before the draft is kept
 * @throws RefusalError what publishing would refuse it with, and `not_authorized` as {@link requireMakeable}, `grant_missing` once the app is
 *   removed, and for too many that wait
 */
export async function makeDraft(
  context: DraftContext,
  maker: Maker,
  { appId, files }: MakeApp,
  stillAllowed: () => Promise<unknown>,
): Promise<MadeDraft> {
  await requirePublisher(context, maker.accountName);
  const made = asPrivate(files);
  if (made.isPublic)
    throw refuse('invalid_request', 'An app that an app makes is private.', {
      errors: [{ path: 'files["manifest.json"].visibility', message: 'must be "private", or left out' }],
    });
  const { version } = made;
  const making = { accountKey: maker.accountKey, appId, version, madeBy: maker.appId };
  await requireMakeable(context.database, making);
  const packed = await packFiles(made.files);
  const { hash, manifest } = await checkPackage(context, {
    ...{ appId, version, publisher: maker.accountKey, size: packed.length },
    source: Readable.from([packed]),
  });
  await stillAllowed();
  const id = draftId.parse(newId('drf', context));
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.draftDays.value * DAY_MILLISECONDS);
  const bytes = bytesOfFiles(made.files);
  await context.database.transaction().execute(async (trx) => {
    await lockDrafts(trx, maker.accountKey);
    // Removing it waits for this, and then takes what it handed in.
    if ((await lockOwn(trx, maker.accountKey, maker.appId))?.id !== maker.installationId) throw refuse('grant_missing');
    await deleteFormer(trx, { installationId: maker.installationId, appId, now });
    requirePlace(await countWaiting(trx, maker.accountKey, maker.installationId), bytes);
    await insertDraft(trx, {
      id,
      account_key: maker.accountKey,
      installation_id: maker.installationId,
      app_id: appId,
      version,
      hash,
      manifest: JSON.stringify(manifest),
      package: packed,
      bytes,
      created_at: now,
      expires_at: expiresAt,
    });
    await notify(trx, 'drafts-changed', { accountKey: maker.accountKey });
  });
  return { id, appId, version, hash, expiresAt: expiresAt.toISOString() };
}

function requirePlace(waiting: Waiting, bytes: number): void {
  const { draftsPerAccount, draftsPerInstallation, draftBytesPerAccount } = limits;
  const most = draftBytesPerAccount.value;
  const isFull =
    waiting.drafts >= draftsPerAccount.value ||
    waiting.ofInstallation >= draftsPerInstallation.value ||
    waiting.bytes + bytes > most ||
    waiting.bytesOfInstallation + bytes > most / 2;
  if (isFull)
    throw refuse(
      'concurrency_limited',
      'Too many apps wait for the person. Let them decide on those first, or hand in the same app again to replace one.',
    );
}
