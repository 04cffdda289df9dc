// What a person sees of apps that apps made: a list, and each with its source and that of the version before.
import { type Draft, type DraftReview, draftId, limits, type RouteQuery, refuse } from '@platform/contract';
import {
  type AppVersion,
  declaredSlots,
  findAppVersion,
  needsOf,
  type PackagedFile,
  readPackagedFiles,
} from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { type AppKit, isOfPlatform } from './app-kit.ts';
import { oneByOne, readStored } from './made-source.ts';
import type { DraftContext } from './make-draft.ts';
import { type DraftRow, type OwnDraft, selectDraft, selectDrafts, selectMaker, selectPackage } from './queries.ts';

export async function listDrafts(
  { database, cursors, clock }: CoreContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'account.drafts.list'>,
): Promise<{ items: Draft[]; nextCursor: string | null }> {
  const list = `drafts:${accountKey}`;
  const before = cursor === undefined ? null : draftId.parse(cursors.decode(list, cursor));
  const rows = await selectDrafts(database, accountKey, { now: clock(), before, limit: limit + 1 });
  const items = rows.slice(0, limit).map(draftOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null };
}

function draftOf({ id, app_id, version, hash, manifest, made_by, installed, ...row }: DraftRow): Draft {
  return {
    ...{ id, version, hash, installed },
    appId: app_id as Draft['appId'],
    madeBy: made_by as Draft['madeBy'],
    name: manifest.name,
    summary: manifest.summary,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

/** @throws RefusalError `not_found` */
export async function reviewDraft(context: DraftContext, own: OwnDraft): Promise<DraftReview> {
  const row = await selectDraft(context.database, own);
  const packed = row === undefined ? undefined : await selectPackage(context.database, row.id);
  if (row === undefined || packed === undefined) throw refuse('not_found');
  const { manifest } = row;
  return {
    ...draftOf(row),
    ...needsOf(manifest),
    secretSlots: declaredSlots(manifest),
    hasFrontend: manifest.frontend !== undefined,
    hasWorkload: manifest.workload !== undefined,
    changes: manifest.changes ?? null,
    files: known(context.kit, await readPackagedFiles(oneByOne(packed))),
    former: await formerOf(context, own.accountKey, row),
  };
}

/** Of an app that an app made: no draft is of any other. */
async function formerOf(
  context: DraftContext,
  accountKey: string,
  { app_id: appId, installed }: DraftRow,
): Promise<DraftReview['former']> {
  if ((await selectMaker(context.database, accountKey, appId)) === undefined) return null;
  const former = await findAppVersion(context.database, appId, installed ?? undefined);
  if (former === undefined || former.ownerKey !== accountKey) return null;
  const files = await filesOf(context, former);
  return files === undefined ? null : { version: former.version, files: known(context.kit, files) };
}

/**
 * Its owner may have published anything under the id since; what is far larger than any draft is not read.
 *
 * @returns `undefined` for one that was deleted meanwhile
 */
async function filesOf(
  context: CoreContext,
  { packageHash, size }: AppVersion,
): Promise<readonly PackagedFile[] | undefined> {
  return Number(size) > limits.draftBody.value ? [] : readStored(context, packageHash);
}

function known(kit: AppKit, files: readonly PackagedFile[]): DraftReview['files'] {
  return files.map((file) => ({ ...file, ofPlatform: isOfPlatform(kit, file.path, file.text) }));
}
