// An app hands in another: it is packed, checked as any package that is published, and kept until its person decides.
import { Readable } from 'node:stream';
import { type ChangeApp, draftId, limits, type MadeDraft, type MakeApp, refuse, sizeText } from '@platform/contract';
import { checkPackage, type PublishContext, requirePublisher } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import { type InstallationIdentity, lockOwn } from '../installations/face.ts';
import { type AppKit, withAdded } from './app-kit.ts';
import { authoredFiles, readLastVersion } from './made-source.ts';
import { requireMakeable } from './may-make.ts';
import { asPrivate, bytesOfFiles, type Files, packFiles } from './pack-files.ts';
import { countWaiting, deleteFormer, insertDraft, lockDrafts, type Waiting } from './queries.ts';

export type DraftContext = CoreContext & Pick<PublishContext, 'verify' | 'drawer'> & { readonly kit: AppKit };

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
  requirePlain(files);
  const made = asPrivate(withAdded(context.kit, files));
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

/**
 * What differs goes over what it handed in last.
 *
 * @throws RefusalError as {@link makeDraft}, and `not_found` for an app that it did not make
 */
export async function changeDraft(
  context: DraftContext,
  maker: Maker,
  { appId, files }: ChangeApp & Pick<MakeApp, 'appId'>,
  stillAllowed: () => Promise<unknown>,
): Promise<MadeDraft> {
  const last = await readLastVersion(context, { ...maker, appId, madeBy: maker.appId });
  const changed = new Map<string, string>(Object.entries(authoredFiles(context.kit, last)));
  for (const [path, text] of Object.entries(files)) {
    if (text === null && !changed.delete(path)) throw refuse('not_found', `${appId} has no file ${path} to take away.`);
    if (text !== null) changed.set(path, text);
  }
  return makeDraft(context, maker, { appId, files: Object.fromEntries(changed) }, stillAllowed);
}

const MOST_NAMED = 20;

/** What differs may be as large as the whole, and goes over another. What lies elsewhere would never be used. */
function requirePlain(files: Files): void {
  const { draftBody, draftFiles } = limits;
  if (Object.keys(files).length > draftFiles.value)
    throw refuse('invalid_request', `An app that an app makes has at most ${draftFiles.value} files.`);
  const beside = Object.keys(files).filter(
    (path) => path !== 'manifest.json' && !/^(?:frontend|workload)\//.test(path),
  );
  if (beside.length > 0)
    throw refuse('invalid_request', 'An app has manifest.json, and files below frontend/ and workload/.', {
      errors: beside
        .slice(0, MOST_NAMED)
        .map((path) => ({ path: `files[${JSON.stringify(path.slice(0, 200))}]`, message: 'lies elsewhere' })),
    });
  if (bytesOfFiles(files) > draftBody.value)
    throw refuse(
      'payload_too_large',
      `The files take more than ${sizeText(draftBody.value)} in sum. Leave something out.`,
    );
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
