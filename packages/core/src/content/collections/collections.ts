// Collections as their owner's apps make, arrange and delete them. Those within one another belong to one account.
import {
  type Collection,
  type CollectionId,
  type changeCollectionBody,
  collectionId,
  type createCollectionBody,
  limits,
  memberId,
  type RouteQuery,
  refuse,
} from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import { notifyEach } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import { allows } from '../../grants/grant-coverage.ts';
import { type ListPage, listPage } from '../../http/list-page.ts';
import { heldCaller, missingGrant } from '../../installations/face.ts';
import { wouldLieInItself } from '../collection-rule.ts';
import { insertMember, strengthenMember } from '../members/member-queries.ts';
import {
  type CollectionRow,
  countCollections,
  deleteCollections,
  ensureSpace,
  heightOf,
  insertAdmission,
  insertCollection,
  lockSpace,
  selectAround,
  selectBelow,
  updateCollection,
} from './queries.ts';
import {
  type AppCaller,
  allowedOf,
  noCollection,
  type Standing,
  shownCollection,
  standingIn,
  standingToChange,
} from './standing.ts';

type CollectionContext = Pick<CoreContext, 'database' | 'pool' | 'clock' | 'random' | 'cursors'>;

/** The app may use it at once. @throws RefusalError as the act `manage` in the parent, `content_conflict` */
export async function createCollection(
  context: CollectionContext,
  caller: AppCaller,
  { kind, name, parentId }: z.output<typeof createCollectionBody>,
): Promise<Collection> {
  const id = collectionId.parse(newId('col', context));
  const at = context.clock();
  if (parentId === undefined) await requireKind(context, caller, { kind, id });
  const parent = parentId === undefined ? null : (await standingIn(context, caller, parentId, 'manage')).collection;
  return context.database.transaction().execute(async (trx) => {
    const begun = await beginCreating(context, trx, caller, { kind, id, parent });
    const { spaceId } = begun;
    if ((await countCollections(trx, spaceId)) >= limits.collections.value)
      throw refuse('content_conflict', `An account has at most ${limits.collections.value} collections.`);
    await insertCollection(trx, { id, spaceId, kind, name, parentId: parentId ?? null, at });
    await insertAdmission(trx, id, caller.installationId, at);
    if (parentId === undefined) {
      const ownership = { id: memberId.parse(newId('mem', context)), role: 'owner' as const, since: at };
      await insertMember(trx, { ...ownership, collection_id: id, account_key: caller.accountKey });
    }
    return shownCollection(await standingIn(context, begun.caller, id, 'read', trx));
  });
}

/** Holds where it comes to lie. */
async function beginCreating(
  context: CollectionContext,
  trx: Executor,
  caller: AppCaller,
  { parent, ...made }: { readonly kind: string; readonly id: CollectionId; readonly parent: CollectionRow | null },
): Promise<{ readonly caller: AppCaller; readonly spaceId: string }> {
  if (parent !== null) {
    const standing = await standingToChange(context, caller, 'manage', { trx, collection: parent });
    requireDepth(standing.chain.length + 1);
    return { caller: standing.caller, spaceId: standing.collection.space_id };
  }
  const ownerKey = caller.accountKey;
  const now = await heldCaller(trx, context, caller);
  await requireKind(context, now, made);
  const spaceId = await ensureSpace(trx, ownerKey, newId('spc', context));
  if (!(await lockSpace(trx, spaceId))) throw noCollection();
  return { caller: now, spaceId };
}

/** @throws RefusalError `grant_missing` */
async function requireKind(
  { pool }: CollectionContext,
  caller: AppCaller,
  { kind, id }: { readonly kind: string; readonly id: CollectionId },
): Promise<void> {
  if (allows(caller.grants, 'content.collections.manage', `${kind}:${id}`)) return;
  const what = `make collections of the kind ${JSON.stringify(kind)}`;
  throw await missingGrant(pool, caller, { id: 'content.collections.manage', resource: `${kind}:*`, what });
}

/** @throws RefusalError `content_conflict` */
function requireDepth(depth: number): void {
  const most = limits.collectionDepth.value;
  if (depth > most) throw refuse('content_conflict', `At most ${most} collections lie within each other.`);
}

export async function listCollections(
  context: CollectionContext,
  caller: AppCaller,
  query: RouteQuery<'services.content.list'>,
): Promise<ListPage<Collection>> {
  const rows = await selectAround(context.database, caller);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const items = rows.flatMap((row) => {
    const allowed = allowedOf(chainFrom(row, byId), caller);
    return allowed === null ? [] : [shownCollection({ collection: row, role: allowed.role })];
  });
  const name = `collections:${caller.installationId}`;
  return listPage(context, query, { name, items, idOf: ({ id }) => id });
}

/** Of rows that have everything above the one. */
export function chainFrom(row: CollectionRow, byId: ReadonlyMap<CollectionId, CollectionRow>): CollectionRow[] {
  const chain = [row];
  for (let at = row.parent_id; at !== null && chain.length <= byId.size; ) {
    const above = byId.get(at);
    if (above === undefined) break;
    chain.push(above);
    at = above.parent_id;
  }
  return chain;
}

export async function readCollection(
  context: CollectionContext,
  caller: AppCaller,
  id: CollectionId,
): Promise<Collection> {
  return shownCollection(await standingIn(context, caller, id, 'read'));
}

/**
 * A move needs the act `manage` in the collection, and at both ends: in the one that it is in, and in the one that it goes to. The
 * outermost place is its owner’s, so that a manager takes nothing out of what its owner sees and looks after.
 *
 * @throws RefusalError `not_authorized`, `content_conflict` for a collection that would lie in itself, too deep, or with another owner
 */
export async function changeCollection(
  context: CollectionContext,
  caller: AppCaller,
  id: CollectionId,
  { name, parentId }: z.output<typeof changeCollectionBody>,
): Promise<Collection> {
  const { collection } = await standingIn(context, caller, id, 'manage');
  return context.database.transaction().execute(async (trx) => {
    const now = await standingToChange(context, caller, 'manage', { trx, collection });
    const moves = parentId !== undefined && parentId !== now.collection.parent_id;
    if (moves) {
      const from = now.collection.parent_id;
      if (from !== null) await standingIn(context, now.caller, from, 'manage', trx);
      if (parentId === null) await keepOwn(context, trx, now);
      else await requirePlace(context, trx, { caller: now.caller, id, parentId, spaceId: collection.space_id });
    }
    await updateCollection(trx, id, { name, parentId });
    // Who has access changes for all that is within.
    if (moves) await notifyContent(trx, await selectBelow(trx, id));
    return shownCollection(await standingIn(context, now.caller, id, 'read', trx));
  });
}

/** What its owner and the app had from above, the collection that leaves it gets itself. @throws RefusalError `not_authorized` */
async function keepOwn(
  context: CollectionContext,
  trx: Executor,
  { caller, collection: { id, owner_key: owner } }: Standing & { readonly caller: AppCaller },
): Promise<void> {
  if (owner !== caller.accountKey)
    throw refuse('not_authorized', 'Only its owner takes a collection out of all others. Move it into another one.');
  const since = context.clock();
  const row = { id: memberId.parse(newId('mem', context)), collection_id: id, account_key: owner };
  await strengthenMember(trx, { ...row, role: 'owner', since });
  await insertAdmission(trx, id, caller.installationId, since);
}

async function requirePlace(
  context: CollectionContext,
  trx: Executor,
  to: {
    readonly caller: AppCaller;
    readonly id: CollectionId;
    readonly parentId: CollectionId;
    readonly spaceId: string;
  },
): Promise<void> {
  const { chain, collection } = await standingIn(context, to.caller, to.parentId, 'manage', trx);
  if (wouldLieInItself(to.id, chain)) throw refuse('content_conflict', 'A collection cannot lie within itself.');
  if (collection.space_id !== to.spaceId)
    throw refuse('content_conflict', 'That collection has another owner. What lies within it is its owner’s too.');
  requireDepth(chain.length + (await heightOf(trx, to.id)));
}

/** With all that is in it. */
export async function deleteCollection(context: CollectionContext, caller: AppCaller, id: CollectionId): Promise<void> {
  const { collection } = await standingIn(context, caller, id, 'manage');
  await context.database.transaction().execute(async (trx) => {
    await standingToChange(context, caller, 'manage', { trx, collection });
    const ids = await selectBelow(trx, id);
    await deleteCollections(trx, ids, limits.keptBytes.value);
    await notifyContent(trx, ids);
  });
}

/** Whoever waits for changes of these looks again. */
export async function notifyContent(trx: Executor, ids: readonly CollectionId[]): Promise<void> {
  await notifyEach(
    trx,
    'content-changed',
    ids.map((one) => ({ collectionId: one })),
  );
}
