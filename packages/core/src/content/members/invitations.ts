// Invitations to collections: an app sends them, and a person accepts them on the trusted surface, for that very app.
import {
  appId,
  type Collection,
  type CollectionId,
  type ContentInvitation,
  type ContentInvitationId,
  contentInvitationId,
  type inviteMemberBody,
  limits,
  memberId,
  type RouteQuery,
  refuse,
} from '@platform/contract';
import type * as z from 'zod';
import type { SessionCaller } from '../../accounts/face.ts';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import { notify } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import { heldPerson, holdInstalled } from '../../installations/face.ts';
import { accountOfAddress, addressText, parseAddress } from '../../messaging/face.ts';
import { roleIn } from '../collection-rule.ts';
import { notifyContent } from '../collections/collections.ts';
import { insertAdmission, lockSpace, selectBelow, selectChain } from '../collections/queries.ts';
import { type AppCaller, hasNoOwner, shownCollection, standingIn, standingToChange } from '../collections/standing.ts';
import { queueNotices } from '../notices/notice.ts';
import {
  answerInvitation,
  countSent,
  type InvitationRow,
  insertInvitation,
  invitedBefore,
  lockInviting,
  selectInvitation,
  selectWaiting,
  withdrawInvitations,
} from './invitation-queries.ts';
import { countMembers, countMemberships, selectRoles, strengthenMember } from './member-queries.ts';

type InvitationContext = Pick<CoreContext, 'database' | 'pool' | 'clock' | 'random' | 'cursors' | 'config'>;

const DAY = 86_400_000;

/**
 * A former invitation of the same person that waits is withdrawn.
 *
 * @throws RefusalError `invalid_request` for what is no address here, and one's own; `not_found` for a name that nobody has;
 *   `content_conflict` for members, and beyond the limits
 */
export async function inviteMember(
  context: InvitationContext,
  caller: AppCaller,
  id: CollectionId,
  { to, role }: z.output<typeof inviteMemberBody>,
): Promise<ContentInvitation> {
  const { collection } = await standingIn(context, caller, id, 'manage');
  const invited = await accountToInvite(context, to);
  if (invited.key === caller.accountKey) throw wrongAddress('is your own', 'That is the address of the person itself.');
  const createdAt = context.clock();
  const row = {
    id: contentInvitationId.parse(newId('civ', context)),
    ...{ collection_id: id, account_key: invited.key, invited_by: caller.accountKey },
    ...{ app_id: caller.appId, role, created_at: createdAt },
    expires_at: new Date(createdAt.getTime() + limits.contentInvitationDays.value * DAY),
  };
  return context.database.transaction().execute(async (trx) => {
    await lockInviting(trx, caller.accountKey);
    const { chain } = await standingToChange(context, caller, 'manage', { trx, collection });
    const held = await selectRoles(
      trx,
      chain.map((link) => link.id),
      invited.key,
    );
    if (held.length > 0) throw refuse('content_conflict', 'This person is a member. Take the role away first.');
    await withdrawInvitations(trx, [id], { to: invited.key });
    await requireRoom(trx, { id, by: caller.accountKey, to: invited.key, now: createdAt });
    // Nobody mutes notifications of the platform, so nobody sends them at will: the next one within a week only waits.
    const isFirst = !(await invitedBefore(trx, { by: caller.accountKey, to: invited.key }));
    await insertInvitation(trx, row);
    await notify(trx, 'content-invitations-changed', { accountKey: invited.key });
    const { name, kind } = chain[0];
    const notice = { kind: 'invited', by: caller.accountName, collection: name } as const;
    if (isFirst) await queueNotices(context, trx, [invited.key], notice);
    return shownInvitation(context, { ...row, name, kind, from: caller.accountName });
  });
}

/** @throws RefusalError */
async function accountToInvite(context: InvitationContext, to: string): Promise<{ readonly key: string }> {
  const address = parseAddress(to, context.config.messaging.serverName);
  if (address?.kind !== 'local')
    throw wrongAddress('is no address here', 'Only people with an account of this platform can be invited.');
  const account = await accountOfAddress(context, address);
  if (account === undefined) throw refuse('not_found', `There is no account named ${address.name}.`);
  return account;
}

function wrongAddress(message: string, detail: string) {
  return refuse('invalid_request', detail, { errors: [{ path: 'to', message }] });
}

async function requireRoom(
  trx: Executor,
  { id, by, to, now }: { readonly id: CollectionId; readonly by: string; readonly to: string; readonly now: Date },
): Promise<void> {
  const members = limits.collectionMembers.value;
  if ((await countMembers(trx, id)) >= members)
    throw refuse('content_conflict', `A collection has at most ${members} members and invited people.`);
  const sent = await countSent(trx, { by, to, now });
  if (sent.all >= limits.contentInvitationsSent.value || sent.toOne >= limits.contentInvitationsToOne.value)
    throw refuse('content_conflict', 'Too many invitations wait for an answer. Send more when some were answered.');
}

export async function listInvitations(
  context: InvitationContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'account.content.invitations'>,
): Promise<{ items: ContentInvitation[]; nextCursor: string | null }> {
  const { database, cursors, clock } = context;
  const list = `content-invitations:${accountKey}`;
  const before = cursor === undefined ? null : contentInvitationId.parse(cursors.decode(list, cursor));
  const rows = await selectWaiting(database, accountKey, { now: clock(), before, limit: limit + 1 });
  const items = rows.slice(0, limit).map((row) => shownInvitation(context, row));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null };
}

interface Answering extends Pick<SessionCaller, 'accountKey' | 'sessionId'> {
  readonly id: ContentInvitationId;
  readonly appId?: string | undefined;
}

/**
 * The app that is admitted is the one by which the invitation came, of the person who accepts.
 *
 * @throws RefusalError `not_found`, `content_conflict`
 */
export async function acceptInvitation(context: InvitationContext, answering: Answering): Promise<Collection> {
  const { accountKey, id } = answering;
  const sent = await waitingInvitation(context, context.database, answering);
  return context.database.transaction().execute(async (trx) => {
    await heldPerson(trx, context, answering);
    const installationId = await holdInstalled(trx, accountKey, sent.app_id);
    if (!(await lockSpace(trx, sent.space_id))) throw noInvitation();
    const invitation = await waitingInvitation(context, trx, answering);
    const { collection_id: collectionId, role } = invitation;
    if (installationId === undefined)
      throw refuse('content_conflict', 'The app by which it came is not installed. Install it, then accept.');
    const chain = await selectChain(trx, { accountKey, installationId }, collectionId);
    const inviting = await selectRoles(
      trx,
      chain.map((link) => link.id),
      invitation.invited_by,
    );
    const byRole = roleIn(inviting.map((one) => ({ role: one })));
    if ((byRole !== 'owner' && byRole !== 'manager') || chain[0] === undefined || hasNoOwner(chain[0]))
      throw refuse('content_conflict', 'Whoever sent it no longer manages the collection.');
    const most = limits.memberships.value;
    if ((await countMemberships(trx, accountKey)) >= most)
      throw refuse('content_conflict', `One person is a member of at most ${most} collections of others.`);
    if (!(await answerInvitation(trx, id, 'accepted'))) throw answered();
    const at = context.clock();
    const own = { id: memberId.parse(newId('mem', context)), collection_id: collectionId, account_key: accountKey };
    await strengthenMember(trx, { ...own, role, since: at });
    await insertAdmission(trx, collectionId, installationId, at);
    await notify(trx, 'content-invitations-changed', { accountKey });
    await notifyContent(trx, await selectBelow(trx, collectionId));
    const [collection] = await selectChain(trx, { accountKey, installationId }, collectionId);
    if (collection === undefined) throw noInvitation();
    return shownCollection({ collection, role: collection.role ?? role });
  });
}

/** @throws RefusalError `not_found`, `content_conflict` */
export async function declineInvitation(context: InvitationContext, answering: Answering): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    await heldPerson(trx, context, answering);
    await waitingInvitation(context, trx, answering);
    if (!(await answerInvitation(trx, answering.id, 'declined'))) throw answered();
    await notify(trx, 'content-invitations-changed', { accountKey: answering.accountKey });
  });
}

async function waitingInvitation(
  { clock }: InvitationContext,
  db: Executor,
  { accountKey, id, appId: through }: Answering,
): Promise<InvitationRow> {
  const invitation = await selectInvitation(db, accountKey, id);
  if (invitation === undefined) throw noInvitation();
  if (invitation.answer !== null) throw answered();
  if (invitation.expires_at <= clock())
    throw refuse('content_conflict', 'The invitation has expired. Ask for another one.');
  if (through !== undefined && through !== invitation.app_id)
    throw refuse('content_conflict', 'It came by another app, and opens the collection to that one alone.');
  return invitation;
}

function noInvitation() {
  return refuse('not_found', 'There is no such invitation, or not any more.');
}

function answered() {
  return refuse('content_conflict', 'The invitation was answered or withdrawn already.');
}

function shownInvitation(
  { config }: InvitationContext,
  row: Omit<InvitationRow, 'space_id' | 'invited_by' | 'answer'>,
): ContentInvitation {
  return {
    id: row.id,
    collection: { id: row.collection_id, kind: row.kind, name: row.name },
    role: row.role,
    from: addressText({ kind: 'local', name: row.from }, config.messaging.serverName),
    appId: appId.parse(row.app_id),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
