// An account is deleted: what it shared can be read and copied by its members for a while, and nothing else of it stays.
import { limits } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Executor } from '../../database/schema.ts';
import { OVERHEAD } from '../bodies/bodies.ts';
import { deleteBodies } from '../bodies/body-queries.ts';
import { notifyContent } from '../collections/collections.ts';
import { deleteCollections, lockSpace } from '../collections/queries.ts';
import { selectBodiesOfSpace } from '../files/file-queries.ts';
import { selectMemberKeys } from '../members/member-queries.ts';
import { queueNotices } from '../notices/notice.ts';
import {
  deleteFormerOfSpace,
  deleteSpace,
  endSpace,
  selectAllOfSpace,
  selectName,
  selectOrphan,
  selectSharedOfSpace,
  selectSpaceOf,
  takeOut,
} from './owner-queries.ts';

const DAY = 86_400_000;

type OwnerContext = Pick<CoreContext, 'clock' | 'random'>;

export async function endOwner(context: OwnerContext, trx: Executor, accountKey: string): Promise<void> {
  const spaceId = await selectSpaceOf(trx, accountKey);
  if (spaceId === undefined || !(await lockSpace(trx, spaceId))) return;
  await leaveShared(context, trx, { spaceId, owner: await selectName(trx, accountKey) });
}

/**
 * Does the same for an account that a version of the platform deleted which knew nothing of collections.
 *
 * @returns whether there was one
 */
export async function endOrphan(context: OwnerContext, trx: Executor): Promise<boolean> {
  const spaceId = await selectOrphan(trx);
  if (spaceId === undefined) return false;
  await leaveShared(context, trx, { spaceId, owner: 'a deleted account' });
  return true;
}

/** Of a tree that has a part with members in it, that part stays, by itself. */
async function leaveShared(
  context: OwnerContext,
  trx: Executor,
  { spaceId, owner }: { readonly spaceId: string; readonly owner: string },
): Promise<void> {
  await deleteBodies(trx, await selectBodiesOfSpace(trx, spaceId), OVERHEAD);
  await deleteFormerOfSpace(trx, spaceId);
  const all = await selectAllOfSpace(trx, spaceId);
  const shared = await selectSharedOfSpace(trx, spaceId);
  await notifyContent(trx, all);
  if (shared.length === 0) {
    await deleteSpace(trx, spaceId);
    return;
  }
  await takeOut(trx, shared);
  const kept = new Set(shared);
  const rest = all.filter((id) => !kept.has(id));
  if (rest.length > 0) await deleteCollections(trx, rest, OVERHEAD);
  const endsAt = new Date(context.clock().getTime() + limits.contentCopyDays.value * DAY);
  await endSpace(trx, spaceId, endsAt);
  const until = endsAt.toISOString().slice(0, 10);
  await queueNotices(context, trx, await selectMemberKeys(trx, shared), { kind: 'owner-deleted', owner, until });
}
