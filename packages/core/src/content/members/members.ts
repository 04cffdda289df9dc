// Who has access to a collection, and how it is taken away.
import { type CollectionId, type ContentMember, type MemberId, type RouteQuery, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { notifyEach } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import { type ListPage, listPage } from '../../http/list-page.ts';
import { addressText } from '../../messaging/face.ts';
import { roleIn } from '../collection-rule.ts';
import { notifyContent } from '../collections/collections.ts';
import { selectBelow } from '../collections/queries.ts';
import { type AppCaller, standingIn, standingToChange } from '../collections/standing.ts';
import { withdrawInvitations } from './invitation-queries.ts';
import {
  deleteAdmissionsOf,
  deleteRoles,
  type KnownMember,
  type MemberRow,
  selectMember,
  selectMembers,
} from './member-queries.ts';

type MemberContext = Pick<CoreContext, 'database' | 'pool' | 'clock' | 'cursors' | 'config'>;

export async function listMembers(
  context: MemberContext,
  caller: AppCaller,
  id: CollectionId,
  query: RouteQuery<'services.content.members'>,
): Promise<ListPage<ContentMember>> {
  const { chain } = await standingIn(context, caller, id, 'read');
  const items = await membersOf(
    context,
    id,
    chain.map((link) => link.id),
  );
  return listPage(context, query, { name: `members:${id}`, items, idOf: (member) => member.id });
}

/** Everybody once, with the strongest role. @param chain the collection itself first, then those above it */
export async function membersOf(
  context: MemberContext,
  id: CollectionId,
  chain: readonly CollectionId[],
): Promise<ContentMember[]> {
  const found = await selectMembers(context.database, chain);
  return [...Map.groupBy(found, (member) => member.account_key).values()].map((roles) =>
    shownMember(context, strongest(roles, id)),
  );
}

/** Of several, the one of the collection itself, which can be taken away there. */
function strongest(roles: readonly KnownMember[], id: CollectionId): KnownMember {
  const role = roleIn(roles);
  const candidates = roles.filter((one) => one.role === role);
  const member = candidates.find((one) => one.collection_id === id) ?? candidates[0];
  if (member === undefined) throw new Error('a member without a role');
  return member;
}

function shownMember({ config }: MemberContext, { id, name, role, since }: KnownMember): ContentMember {
  const address = addressText({ kind: 'local', name }, config.messaging.serverName);
  return { id, address, role, since: since.toISOString() };
}

/**
 * From the answer on, nothing is written by who was removed, in the collection or in any within it: roles that they have there
 * themselves end too, their apps lose all of it, and neither they nor whom they invited are invited any more.
 *
 * @throws RefusalError `not_found`, `content_conflict` for the owner and for roles from above
 */
export async function removeMember(
  context: MemberContext,
  caller: AppCaller,
  { id, memberId }: { readonly id: CollectionId; readonly memberId: MemberId },
): Promise<void> {
  const { collection } = await standingIn(context, caller, id, 'read');
  await context.database.transaction().execute(async (trx) => {
    const { chain, caller: now } = await standingToChange(context, caller, 'read', { trx, collection });
    const member = await selectMember(trx, id, memberId);
    // Whoever only reads here may still leave.
    if (member?.account_key !== caller.accountKey) await standingIn(context, now, id, 'manage', trx);
    if (member === undefined) {
      const above = await selectMembers(
        trx,
        chain.map((link) => link.id),
      );
      if (above.some((one) => one.id === memberId))
        throw refuse('content_conflict', 'This role comes from a collection above. Take it away there.');
      throw refuse('not_found', 'There is no such member, or not any more.');
    }
    await endMembership(trx, member);
  });
}

/** In a transaction that holds the space. @throws RefusalError `content_conflict` for the owner */
export async function endMembership(trx: Executor, member: MemberRow): Promise<void> {
  const { collection_id: collectionId, account_key: accountKey } = member;
  if (member.role === 'owner')
    throw refuse('content_conflict', 'A collection has its owner as long as it exists. Delete it instead.');
  const below = await selectBelow(trx, collectionId);
  await deleteRoles(trx, below, accountKey);
  await deleteAdmissionsOf(trx, below, accountKey);
  const invited = [
    ...(await withdrawInvitations(trx, below, { by: accountKey })),
    ...(await withdrawInvitations(trx, below, { to: accountKey })),
  ];
  await notifyEach(
    trx,
    'content-invitations-changed',
    [...new Set(invited)].map((key) => ({ accountKey: key })),
  );
  await notifyContent(trx, below);
}
