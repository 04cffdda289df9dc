// The collections of a person as they see them without any app: all of their own, and those that others share with them. What they
// may do is what their role allows.
import {
  type AccountCollection,
  appId,
  type CollectionId,
  type ContentMember,
  type ContentRole,
  limits,
  type MemberId,
  type RouteQuery,
  refuse,
} from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { Executor } from '../../database/schema.ts';
import { type ListPage, listPage } from '../../http/list-page.ts';
import { addressText } from '../../messaging/face.ts';
import { roleIn } from '../collection-rule.ts';
import { notifyContent } from '../collections/collections.ts';
import { deleteCollections, lockSpace, selectBelow } from '../collections/queries.ts';
import { selectMember } from '../members/member-queries.ts';
import { endMembership, membersOf } from '../members/members.ts';
import { type KnownCollection, type PersonsLink, selectChainOfPerson, selectOfPerson } from './queries.ts';

type SharingContext = Pick<CoreContext, 'database' | 'pool' | 'clock' | 'cursors' | 'config'>;

export async function listOfPerson(
  context: SharingContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'account.collections.list'>,
): Promise<ListPage<AccountCollection>> {
  const list = `person-collections:${accountKey}`;
  const after = cursor === undefined ? '' : String(context.cursors.decode(list, cursor));
  const rows = await selectOfPerson(context.database, accountKey, { after, limit: limit + 1 });
  const items = rows.slice(0, limit).map((row) => shown(context, row, accountKey));
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? context.cursors.encode(list, last.id) : null };
}

function shown({ config }: SharingContext, row: KnownCollection, accountKey: string): AccountCollection {
  const { serverName } = config.messaging;
  return {
    ...{ id: row.id, kind: row.kind, name: row.name, parentId: row.parent_id },
    role: row.owner_key === accountKey ? 'owner' : (row.role ?? 'viewer'),
    createdAt: row.created_at.toISOString(),
    owner: row.owner_name === null ? null : addressText({ kind: 'local', name: row.owner_name }, serverName),
    endsAt: row.ends_at?.toISOString() ?? null,
    memberId: row.role === 'owner' ? null : row.member_id,
    ...{ members: row.members, items: row.items },
    apps: row.apps.map((app) => appId.parse(app)),
  };
}

interface PersonsStanding {
  readonly role: ContentRole;
  /** The collection itself first. */
  readonly chain: readonly [PersonsLink, ...PersonsLink[]];
}

/** @throws RefusalError `not_found` for whoever has no role in it or above */
async function standingOf(db: Executor, accountKey: string, id: CollectionId): Promise<PersonsStanding> {
  const [first, ...above] = await selectChainOfPerson(db, accountKey, id);
  const role = first?.owner_key === accountKey ? 'owner' : roleIn(first === undefined ? [] : [first, ...above]);
  if (first === undefined || role === null)
    throw refuse('not_found', 'There is no such collection, or it is not shared with you.');
  return { role, chain: [first, ...above] };
}

/** From here on nothing else of its space changes until the transaction has ended. */
async function standingToChange(trx: Executor, accountKey: string, id: CollectionId): Promise<PersonsStanding> {
  const { chain } = await standingOf(trx, accountKey, id);
  await lockSpace(trx, chain[0].space_id);
  return standingOf(trx, accountKey, id);
}

export async function listMembersForPerson(
  context: SharingContext,
  accountKey: string,
  id: CollectionId,
  query: RouteQuery<'account.collections.members'>,
): Promise<ListPage<ContentMember>> {
  const { chain } = await standingOf(context.database, accountKey, id);
  const items = await membersOf(
    context,
    id,
    chain.map((link) => link.id),
  );
  return listPage(context, query, { name: `person-members:${id}`, items, idOf: (member) => member.id });
}

/**
 * Their app loses the collection with the role.
 *
 * @throws RefusalError `not_found`, `not_authorized`, `content_conflict` for the owner and for roles from above
 */
export async function removeMemberAsPerson(
  { database }: SharingContext,
  accountKey: string,
  { id, memberId }: { readonly id: CollectionId; readonly memberId: MemberId },
): Promise<void> {
  await database.transaction().execute(async (trx) => {
    const { role, chain } = await standingToChange(trx, accountKey, id);
    const member = await selectMember(trx, id, memberId);
    if (member === undefined) {
      for (const above of chain.slice(1))
        if ((await selectMember(trx, above.id, memberId)) !== undefined)
          throw refuse('content_conflict', 'This role comes from a collection above. Take it away there.');
      throw refuse('not_found', 'There is no such member, or not any more.');
    }
    const isOwn = member.account_key === accountKey;
    if (!isOwn && role !== 'owner' && role !== 'manager')
      throw refuse('not_authorized', 'Only the owner and managers of a collection decide who else has it.');
    if (!isOwn && chain[0].ends_at !== null)
      throw refuse('content_conflict', 'The account that owned it was deleted. It can only be read.');
    await endMembership(trx, member);
  });
}

/** With all that is in it, for everybody. @throws RefusalError `not_found`, `not_authorized` */
export async function deleteAsOwner({ database }: SharingContext, accountKey: string, id: CollectionId): Promise<void> {
  await database.transaction().execute(async (trx) => {
    const { role } = await standingToChange(trx, accountKey, id);
    if (role !== 'owner') throw refuse('not_authorized', 'Only its owner deletes a collection. You can leave it.');
    const ids = await selectBelow(trx, id);
    await deleteCollections(trx, ids, limits.keptBytes.value);
    await notifyContent(trx, ids);
  });
}
