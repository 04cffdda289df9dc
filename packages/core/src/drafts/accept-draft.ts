// A person accepts an app that an app made: exactly the package that was reviewed is published for them alone, and installed.
import { Readable } from 'node:stream';
import { type acceptDraftBody, type Grant, refuse } from '@platform/contract';
import type * as z from 'zod';
import type { NamedAccount } from '../accounts/face.ts';
import { findAppVersion, publishPackage, requirePublisher, withdrawVersion } from '../catalog/face.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { allows, excessGrants } from '../grants/grant-coverage.ts';
import { installApp, lockOwn, replacePermissions, selectOwn, upgradeApp } from '../installations/face.ts';
import { insertMadeVersion } from './made-queries.ts';
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
  selectMaker,
  selectPackage,
} from './queries.ts';

/** For checking and unpacking five megabytes, and an installation. A process that dies meanwhile leaves it open for so long. */
const DECIDING_MILLISECONDS = 180_000;

/**
 * When it fails, nothing is published that was not before, and the draft waits for its person as it did.
 *
 * @param stillAllowed rejects once the person may no longer; asked right before it is published
 * @throws RefusalError `not_found`; `proposal_conflict` for another hash, while somebody else decides on it, and for a new version without
 *   permissions once the one before is removed; `grant_missing` once the app that made it may make none; and what publishing, installing
 *   and changing the version throw
 */
export async function acceptDraft(
  context: DraftContext,
  account: NamedAccount,
  id: OwnDraft['id'],
  { hash, permissions }: z.output<typeof acceptDraftBody>,
  stillAllowed: () => Promise<unknown>,
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
    await requirePublisher(context, account.name);
    await publishAndInstall(context, account, draft, { permissions, stillAllowed });
  } catch (error) {
    await withdrawUnused(context, account.key, draft);
    await releaseDraft(database, id, until);
    throw error;
  }
  await database.transaction().execute(async (trx) => {
    await deleteDraft(trx, id);
    await notify(trx, 'drafts-changed', { accountKey: account.key });
  });
  return draft;
}

/** @throws RefusalError `not_found`, `proposal_conflict` while somebody accepts it */
export async function declineDraft(context: DraftContext, own: OwnDraft): Promise<void> {
  const { database } = context;
  const draft = await selectDraft(database, own);
  if (draft === undefined) throw refuse('not_found');
  await database.transaction().execute(async (trx) => {
    if (!(await deleteUndecided(trx, own))) throw decidedElsewhere();
    await notify(trx, 'drafts-changed', { accountKey: own.accountKey });
  });
  await withdrawUnused(context, own.accountKey, draft);
}

/** What was published of it and not installed, by a process that died in between too. */
async function withdrawUnused(context: DraftContext, accountKey: string, draft: DraftRow): Promise<void> {
  const { app_id: appId, version } = draft;
  if (await isPublished(context.database, accountKey, draft)) await withdrawVersion(context, appId, version);
}

async function isPublished(
  db: Executor,
  accountKey: string,
  { app_id: appId, version, hash }: DraftRow,
): Promise<boolean> {
  const there = await findAppVersion(db, appId, version);
  return there?.packageHash === hash && there.ownerKey === accountKey;
}

function decidedElsewhere() {
  return refuse('proposal_conflict', 'It is being accepted, in another window or on another device.');
}

/** What it handed in is of no use once its person took the permission away, which waits until the transaction ends. */
async function requireMaker(trx: Executor, accountKey: string, draft: DraftRow): Promise<void> {
  const maker = await lockOwn(trx, accountKey, draft.made_by);
  if (maker?.id !== draft.installation_id || !allows(maker.grants, 'apps.create', '*'))
    throw refuse('grant_missing', `${draft.made_by} may no longer make apps. Allow it in Settings → Apps, or decline.`);
}

interface Accepting {
  readonly permissions: readonly Grant[] | undefined;
  readonly stillAllowed: () => Promise<unknown>;
}

async function publishAndInstall(
  context: DraftContext,
  account: NamedAccount,
  draft: DraftRow,
  { permissions, stillAllowed }: Accepting,
): Promise<void> {
  const { app_id: appId, version, manifest } = draft;
  await context.database.transaction().execute((trx) => requireMaker(trx, account.key, draft));
  const present = await selectOwn(context.database, account.key, appId);
  // As a new version it was to keep what it had; nobody said what it gets now.
  if (present === undefined && permissions === undefined && (await isMade(context, account.key, appId)))
    throw refuse('proposal_conflict', `${appId} is not installed any more. Look at this again.`);
  if (permissions !== undefined) {
    checkGrants(requestedGrants(manifest), permissions);
    if (present !== undefined) requireHeld(present.grants, permissions);
  }
  await publish(context, account.key, draft, stillAllowed);
  if (present === undefined) return installApp(context, account, { appId, version, permissions: chosen(permissions) });
  await upgradeApp(context, account.key, appId, { version, acceptResources: false });
  if (permissions === undefined) return;
  // What the person took away meanwhile does not come back.
  await replacePermissions(context, account.key, appId, permissions, (held) => requireHeld(held, permissions));
}

async function isMade({ database }: DraftContext, accountKey: string, appId: string): Promise<boolean> {
  return (await selectMaker(database, accountKey, appId)) !== undefined;
}

function requireHeld(held: readonly Grant[], permissions: readonly Grant[]): void {
  if (excessGrants(held, permissions).length > 0)
    throw refuse('grants_exceed_request', 'A new version gets no permission that the one before does not have.');
}

function chosen(permissions: readonly Grant[] | undefined): Grant[] | undefined {
  return permissions === undefined ? undefined : [...permissions];
}

/** Nothing is to be done where it is published already, by a process that died before it was installed. */
async function publish(
  context: DraftContext,
  accountKey: string,
  draft: DraftRow,
  stillAllowed: () => Promise<unknown>,
): Promise<void> {
  const { id, app_id: appId, version, hash, made_by: madeBy } = draft;
  if (await isPublished(context.database, accountKey, draft)) return;
  const packed = await selectPackage(context.database, id);
  if (packed === undefined) throw refuse('not_found');
  await publishPackage(context, {
    ...{ appId, version, publisher: accountKey, size: packed.length },
    source: Readable.from([packed]),
    stillAllowed,
    publishing: async (trx) => {
      await requireMaker(trx, accountKey, draft);
      await lockMade(trx, accountKey);
      await requireMakeable(trx, { accountKey, appId, version, madeBy });
      await insertMade(trx, { account_key: accountKey, app_id: appId, made_by: madeBy, created_at: context.clock() });
      await insertMadeVersion(trx, { account_key: accountKey, app_id: appId, version, hash });
    },
  });
}
