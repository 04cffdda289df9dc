// The items of a collection: written on condition, read, listed and deleted.
import type { IncomingMessage } from 'node:http';
import { type CollectionId, type ContentItem, limits, type RouteQuery, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import { type Arrived, giveUp, keepBody, makeRoom, OVERHEAD, type Room, receive } from '../bodies/bodies.ts';
import { retireBodies } from '../bodies/body-queries.ts';
import { type AppCaller, type Standing, standingIn, standingToChange } from '../collections/standing.ts';
import { conditionsOf, holds, preconditionFailed } from './conditions.ts';
import {
  forgetDeletions,
  type ItemPlace,
  isKnownDeleted,
  type KnownItem,
  nextChange,
  selectItem,
  selectItems,
  writeItem,
} from './item-queries.ts';

export type ItemContext = Pick<
  CoreContext,
  'database' | 'pool' | 'clock' | 'random' | 'cursors' | 'config' | 'log' | 'stopping' | 'at'
>;

export interface Writing {
  readonly caller: AppCaller;
  readonly place: ItemPlace;
  readonly request: IncomingMessage;
  /** The caller as it is once the bytes have arrived. */
  readonly stillAllowed: () => Promise<AppCaller>;
}

/**
 * Whether it may be written is looked at before the bytes are read, and decided once they are there.
 *
 * @throws RefusalError `precondition_failed`, `disk_quota`, and as the act `write`
 */
export async function writeContent(
  context: ItemContext,
  { caller, place, request, stillAllowed }: Writing,
): Promise<{ readonly item: ContentItem; readonly created: boolean }> {
  const conditions = conditionsOf(request.headers);
  const { collection } = await standingIn(context, caller, place.collectionId, 'write');
  const present = await selectItem(context.database, place);
  if (!holds(conditions, present?.etag ?? null)) throw preconditionFailed();
  const room = roomOf(collection, caller);
  const arrived = await receive(context, request, { room, limit: limits.collectionItem.value });
  try {
    const now = await stillAllowed();
    return await store(context, { caller: now, collection, key: place.key, arrived, room, conditions });
  } catch (error) {
    await giveUp(context, arrived);
    throw error;
  }
}

function roomOf(collection: Standing['collection'], { accountKey }: AppCaller): Room {
  const { space_id: spaceId, owner_key: ownerKey } = collection;
  return { spaceId, ownerKey, own: ownerKey === accountKey };
}

interface Storing {
  readonly caller: AppCaller;
  readonly collection: Standing['collection'];
  readonly key: string;
  readonly arrived: Arrived;
  readonly room: Room;
  readonly conditions: ReturnType<typeof conditionsOf>;
}

function store(context: ItemContext, { caller, collection, key, arrived, room, conditions }: Storing) {
  const collectionId = collection.id;
  const place = { collectionId, key };
  return context.database.transaction().execute(async (trx) => {
    await standingToChange(context, caller, 'write', { trx, collection });
    const former = await selectItem(trx, place);
    if (!holds(conditions, former?.etag ?? null)) throw preconditionFailed();
    await makeRoom(trx, context, arrived, { room, former: former?.size ?? null });
    const wasDeleted = former === undefined && (await isKnownDeleted(trx, place));
    const { change, items } = await nextChange(trx, collectionId, {
      items: former === undefined ? 1 : 0,
      deletions: wasDeleted ? -1 : 0,
    });
    const most = limits.collectionItems.value;
    if (items > most) throw refuse('content_conflict', `A collection has at most ${most} items. Delete some first.`);
    const item: KnownItem = {
      key,
      etag: newTag(context),
      size: arrived.size,
      body_id: await keepBody(trx, context, arrived, room),
      changed_at: context.clock(),
    };
    await writeItem(trx, { collection_id: collectionId, change, ...item });
    if (former !== undefined) await retireBodies(trx, [former.body_id], { now: item.changed_at, overhead: OVERHEAD });
    await notify(trx, 'content-changed', { collectionId });
    return { item: shownItem(item), created: former === undefined };
  });
}

/** Of each version its own, so that a version of another item, or of before, is never taken for this one. */
function newTag({ random }: Pick<CoreContext, 'random'>): string {
  return `"${random(12).toString('base64url')}"`;
}

/** @throws RefusalError `not_found`, `precondition_failed` */
export async function deleteContent(
  context: ItemContext,
  { caller, place, request }: Omit<Writing, 'stillAllowed'>,
): Promise<void> {
  const conditions = conditionsOf(request.headers);
  const { collectionId } = place;
  const { collection } = await standingIn(context, caller, collectionId, 'write');
  await context.database.transaction().execute(async (trx) => {
    await standingToChange(context, caller, 'write', { trx, collection });
    const item = await selectItem(trx, place);
    // Conditions are about what would succeed without them (RFC 9110, section 13.2.1).
    if (item === undefined) throw noItem();
    if (!holds(conditions, item.etag)) throw preconditionFailed();
    const { change, deletions } = await nextChange(trx, collectionId, { items: -1, deletions: 1 });
    const gone = { etag: null, size: null, body_id: null };
    const now = context.clock();
    await writeItem(trx, { collection_id: collectionId, key: item.key, change, changed_at: now, ...gone });
    await retireBodies(trx, [item.body_id], { now, overhead: OVERHEAD });
    // A tenth at once, so that few deletions have to forget any.
    const most = limits.contentDeletionsKnown.value;
    if (deletions > most) await forgetDeletions(trx, collectionId, Math.ceil(most / 10));
    await notify(trx, 'content-changed', { collectionId });
  });
}

/** @throws RefusalError `not_found` */
export async function findContent(context: ItemContext, caller: AppCaller, place: ItemPlace): Promise<KnownItem> {
  await standingIn(context, caller, place.collectionId, 'read');
  const item = await selectItem(context.database, place);
  if (item === undefined) throw noItem();
  return item;
}

export async function listContent(
  context: ItemContext,
  caller: AppCaller,
  id: CollectionId,
  { limit, cursor }: RouteQuery<'services.content.items'>,
): Promise<{ items: ContentItem[]; nextCursor: string | null }> {
  await standingIn(context, caller, id, 'read');
  const list = `items:${id}`;
  const after = cursor === undefined ? '' : String(context.cursors.decode(list, cursor));
  const rows = await selectItems(context.database, id, { after, limit: limit + 1 });
  const items = rows.slice(0, limit).map(shownItem);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? context.cursors.encode(list, last.key) : null };
}

function shownItem({ key, etag, size, changed_at }: KnownItem): ContentItem {
  return { key, etag, size, at: changed_at.toISOString() };
}

function noItem() {
  return refuse('not_found', 'There is no such item.');
}
