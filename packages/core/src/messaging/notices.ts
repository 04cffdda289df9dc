// Messages and requests that arrive become notifications of the Messages app: one of a conversation until it is read, since none
// says what was written. They are stored by a job, because storing takes locks that others take before the rows of a change.
import { type ConversationState, type InstallationId, type NotificationId, notificationId } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { JobKind } from '../background/jobs.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';
import { markReadAt, type NewNotification, storeWithin } from '../notifications/face.ts';
import { findMessagesApp, insertNotices, MESSAGES_APP, messageNotices, selectNotice } from './notice-queries.ts';
import { opaqueId } from './opaque-ids.ts';
import type { TransportConversation } from './transport.ts';

const LEASE_MILLISECONDS = 20_000;
/** Who has the conversation open has read the message by then, and needs no notification of it. */
const READING_MILLISECONDS = 3_000;

export interface Arrival {
  readonly accountKey: string;
  readonly conversationId: string;
  readonly state: ConversationState;
}

/** In the transaction by which they arrive. */
export async function queueNotices(
  context: Pick<CoreContext, 'clock' | 'random'>,
  trx: Executor,
  arrivals: readonly Arrival[],
): Promise<void> {
  if (arrivals.length === 0) return;
  const now = context.clock();
  await insertNotices(
    trx,
    arrivals.map(({ accountKey, conversationId, state }) => ({
      id: notificationId.parse(newId('ntf', context)),
      account_key: accountKey,
      conversation_id: conversationId,
      occurred_at: now,
      due_at: state === 'request' ? now : new Date(now.getTime() + READING_MILLISECONDS),
    })),
  );
  await notify(trx, 'message-noticed', {});
}

export type Noticed = Pick<NewNotification, 'id' | 'account_key' | 'dedupe_key'> & { readonly occurred_at: Date };

/** @param find the conversation as the account has it; `undefined` for one that is gone */
export function publishingMessages(
  context: CoreContext,
  find: (accountKey: string, conversationId: string) => Promise<TransportConversation | undefined>,
): JobKind<NotificationId> {
  return {
    name: 'notices of messages',
    jobs: messageNotices,
    wakeOn: 'message-noticed',
    slots: 4,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async run({ id }) {
      const notice = await selectNotice(context.database, id);
      if (notice === undefined) return 'done';
      const installationId = await findMessagesApp(context.database, notice.account_key);
      const conversation = await find(notice.account_key, notice.conversation_id);
      // Read or left meanwhile.
      const isNews = conversation !== undefined && (conversation.unread > 0 || conversation.state === 'request');
      if (installationId === undefined || !isNews) return 'done';
      const notification = notificationOf(context, { ...notice, dedupe_key: null }, { installationId, conversation });
      return async (trx) => storeNotices(trx, context, [notification]);
    },
  };
}

/** Who has decided on a request or read what was written needs its notifications no more, in whatever app that was. */
export async function markNoticesRead(
  context: CoreContext,
  accountKey: string,
  conversation: Pick<TransportConversation, 'id'>,
): Promise<void> {
  const installationId = await findMessagesApp(context.database, accountKey);
  if (installationId === undefined) return;
  await markReadAt(context, accountKey, { installationId, target: targetOf(context, installationId, conversation.id) });
}

function targetOf(context: CoreContext, installationId: InstallationId, conversationId: string): string {
  return `?conversation=${opaqueId(context, 'conv', installationId, conversationId)}`;
}

/** @param conversation that waits for the account, by a request or something unread */
export function notificationOf(
  context: CoreContext,
  { id, account_key, occurred_at, dedupe_key }: Noticed,
  { installationId, conversation }: { installationId: InstallationId; conversation: TransportConversation },
): NewNotification {
  const who = nameOf(conversation, context.config.messaging.serverName);
  const target = targetOf(context, installationId, conversation.id);
  return {
    id,
    account_key,
    installation_id: installationId,
    app_id: MESSAGES_APP,
    topic: 'messages',
    title: conversation.state === 'request' ? `${who} wants to write to you` : `New message from ${who}`,
    body: '',
    priority: 'normal',
    presentation: {
      mode: 'card',
      tone: 'neutral',
      layout: 'compact',
      actions: [{ id: 'open', label: 'Open', type: 'open-app', style: 'primary', target }],
    },
    delivery: 'inbox-and-web-push',
    dedupe_key,
    created_at: occurred_at,
    expires_at: null,
  };
}

export async function storeNotices(
  trx: Transaction<DatabaseSchema>,
  context: CoreContext,
  notifications: readonly NewNotification[],
): Promise<void> {
  const { surplus } = await storeWithin(trx, context, notifications);
  if (surplus > 0) context.count('platform_core_push_dropped_total', { reason: 'surplus' }, surplus);
}

/** Accounts of this platform by their name alone. */
function nameOf({ others: [other] }: TransportConversation, serverName: string): string {
  const ending = `@${serverName}`;
  const address = other?.address ?? 'somebody';
  return address.endsWith(ending) ? address.slice(0, -ending.length) : address;
}
