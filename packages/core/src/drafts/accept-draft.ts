// A person accepts an app that an app made: exactly the package that was reviewed is published for them alone, and installed.
import { Readable } from 'node:stream';
import { type acceptDraftBody, type Grant, refuse } from '@platform/contract';
import type * as z from 'zod';
import type { NamedAccount } from '../accounts/face.ts';
import { findAppVersion, publishPackage, requirePublisher, withdrawVersion } from '../catalog/face.ts';
import { notify } from '../database/notify.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { allows, excessGrants } from '../grants/grant-coverage.ts';
import { installApp, replacePermissions, selectOwn, upgradeApp } from '../installations/face.ts';
import type { DraftContext } from './make-draft.ts';
import { requireMakeable } from './may-make.ts';
import {
  claimDraft,
  type DraftRow,
  deleteDraft,
  deleteUndecided,
  insertMade,
  lockMade,
  type OwnDraft,
  releaseDraft,
  selectDraft,
  selectMakersGrants,
  selectPackage,
} from './queries.ts';

/** For checking and unpacking five megabytes, and an installation. A process that dies meanwhile leaves it open for so long. */
const DECIDING_MILLISECONDS = 180_000;

/**
 * When it fails, nothing is published that was not before, and the draft waits for its person as it did.
 *
 * @throws RefusalError `not_found`; `proposal_conflict` for another hash, and while somebody else decides on it; `grant_missing` once the app
 *   that made it may make none; and what publishing, installing and changing the version throw
 */
export async function acceptDraft(
  context: DraftContext,
  account: NamedAccount,
  id: OwnDraft['id'],
  { hash, permissions }: z.output<typeof acceptDraftBody>,
): Promise<DraftRow> {
  const { database } = context;
  const now = context.clock();
  const own = { accountKey: account.key, id, now };
  const draft = await selectDraft(database, own);
  if (draft === undefined) throw refuse('not_found');
  if (draft.hash !== hash) throw refuse('proposal_conflict', 'This is not what was reviewed. Look at it again.');
  const until = new Date(now.getTime() + DECIDING_MILLISECONDS);
  if (!(await claimDraft(database, own, { hash, until }))) throw decidedElsewhere();
  try {
    await requireMaker(context, draft);
    await requirePublisher(context, account.name);
    await publishAndInstall(context, account, draft, permissions);
  } catch (error) {
    await releaseDraft(database, id);
    throw error;
  }
  await database.transaction().execute(async (trx) => {
    await deleteDraft(trx, id);
    await notify(trx, 'drafts-changed', { accountKey: account.key });
  });
  return draft;
}

/** @throws RefusalError `not_found`, `proposal_conflict` while somebody accepts it */
export async function declineDraft({ database }: DraftContext, own: OwnDraft): Promise<void> {
  const draft = await selectDraft(database, own);
  if (draft === undefined) throw refuse('not_found');
  await database.transaction().execute(async (trx) => {
    if (!(await deleteUndecided(trx, own))) throw decidedElsewhere();
    await notify(trx, 'drafts-changed', { accountKey: own.accountKey });
  });
}

function decidedElsewhere() {
  return refuse('proposal_conflict', 'It is being accepted, in another window or on another device.');
}

/** What it handed in is of no use once its person took the permission away. */
async function requireMaker({ database }: DraftContext, draft: DraftRow): Promise<void> {
  const grants = await selectMakersGrants(database, draft.installation_id);
  if (grants === undefined || !allows(grants, 'apps.create', '*'))
    throw refuse('grant_missing', `${draft.made_by} may no longer make apps. Allow it in Settings → Apps, or decline.`);
}

async function publishAndInstall(
  context: DraftContext,
  account: NamedAccount,
  draft: DraftRow,
  permissions: readonly Grant[] | undefined,
): Promise<void> {
  const { app_id: appId, version, manifest } = draft;
  const present = await selectOwn(context.database, account.key, appId);
  if (permissions !== undefined) {
    checkGrants(requestedGrants(manifest), permissions);
    const beyond = present === undefined ? [] : excessGrants(present.grants, permissions);
    if (beyond.length > 0)
      throw refuse('grants_exceed_request', 'A new version gets no permission that the one before does not have.');
  }
  const published = await publish(context, account.key, draft);
  try {
    if (present === undefined) await installApp(context, account, { appId, version, permissions: chosen(permissions) });
    else await upgradeApp(context, account.key, appId, { version, acceptResources: false });
  } catch (error) {
    if (published) await withdrawVersion(context, appId, version);
    throw error;
  }
  if (present !== undefined && permissions !== undefined)
    await replacePermissions(context, account.key, appId, permissions);
}

function chosen(permissions: readonly Grant[] | undefined): Grant[] | undefined {
  return permissions === undefined ? undefined : [...permissions];
}

/** @returns false where it is published already, by a process that died before it was installed */
async function publish(context: DraftContext, accountKey: string, draft: DraftRow): Promise<boolean> {
  const { id, app_id: appId, version, hash, made_by: madeBy } = draft;
  const there = await findAppVersion(context.database, appId, version);
  if (there?.packageHash === hash && there.ownerKey === accountKey) return false;
  const packed = await selectPackage(context.database, id);
  if (packed === undefined) throw refuse('not_found');
  await publishPackage(context, {
    ...{ appId, version, publisher: accountKey, size: packed.length },
    source: Readable.from([packed]),
    publishing: async (trx) => {
      await lockMade(trx, accountKey);
      await requireMakeable(trx, { accountKey, appId, version, madeBy });
      await insertMade(trx, { account_key: accountKey, app_id: appId, made_by: madeBy, created_at: context.clock() });
    },
  });
  return true;
}
