// An account is deleted: what it shared can be read and copied by its members for a while, and nothing else of it stays.
import { limits } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Changing } from '../../database/changing.ts';
import { OVERHEAD } from '../bodies/bodies.ts';
import { deleteBodies } from '../bodies/body-queries.ts';
import { notifyContent } from '../collections/collections.ts';
import { deleteCollections, lockSpace, selectBelow, selectRoots } from '../collections/queries.ts';
import { selectBodiesOfSpace } from '../files/file-queries.ts';
import { selectMemberKeys } from '../members/member-queries.ts';
import { queueNotices } from '../notices/notice.ts';
import { deleteSpace, endSpace, selectName, selectSpaceOf } from './owner-queries.ts';

const DAY = 86_400_000;

type OwnerContext = Pick<CoreContext, 'clock' | 'random'>;

export async function endOwner(context: OwnerContext, trx: Changing, accountKey: string): Promise<void> {
  const spaceId = await selectSpaceOf(trx, accountKey);
  if (spaceId === undefined || !(await lockSpace(trx, spaceId))) return;
  await deleteBodies(trx, await selectBodiesOfSpace(trx, spaceId), OVERHEAD);
  const shared: string[] = [];
  for (const root of await selectRoots(trx, spaceId)) {
    const ids = await selectBelow(trx, root);
    const members = await selectMemberKeys(trx, ids);
    await notifyContent(trx, ids);
    if (members.length === 0) await deleteCollections(trx, ids, OVERHEAD);
    shared.push(...members);
  }
  if (shared.length === 0) {
    await deleteSpace(trx, spaceId);
    return;
  }
  const endsAt = new Date(context.clock().getTime() + limits.contentCopyDays.value * DAY);
  await endSpace(trx, spaceId, endsAt);
  const until = endsAt.toISOString().slice(0, 10);
  await queueNotices(context, trx, [...new Set(shared)], {
    kind: 'owner-deleted',
    owner: await selectName(trx, accountKey),
    until,
  });
}
