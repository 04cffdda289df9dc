// The transport that comes with the platform: direct conversations between its accounts.
import { limits, type MessagingContact, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { accountOfAddress, findByKey } from '../account-queries.ts';
import { addressText, parseAddress, userIdOf } from '../addresses.ts';
import { provision } from '../provisioning.ts';
import { readingInTurn } from '../reading-turns.ts';
import type {
  PageAt,
  Position,
  Transport,
  TransportConversation,
  TransportMessage,
  TransportPage,
} from '../transport.ts';
import { conversationChanger } from './change-conversations.ts';
import {
  findConversation,
  type OwnConversation,
  type OwnMessage,
  selectChanged,
  selectChanges,
  selectConversationsById,
  selectLatest,
  selectMessages,
  selectMovedUp,
  selectNewMessages,
} from './read-queries.ts';
import { openBody, openConversationKey } from './sealed-messages.ts';

type Context = Pick<CoreContext, 'config' | 'database' | 'clock' | 'time' | 'random' | 'masterKey' | 'at'>;

const DELETED = 'deleted account';

export function bundledTransport(context: Context): Transport {
  const { database, config } = context;
  const { serverName } = config.messaging;
  const change = conversationChanger(context);
  const inTurn = readingInTurn();

  function contactOf(name: string): MessagingContact {
    const address = { kind: 'local', name } as const;
    return {
      address: addressText(address, serverName),
      transportUserId: userIdOf(address, serverName),
      external: false,
    };
  }

  function conversationOf({ id, otherName, state, unread, createdAt, lastMessageAt }: OwnConversation) {
    const conversation: TransportConversation = {
      id,
      transport: 'bundled',
      others: [otherName === null ? { address: DELETED } : participantOf(otherName)],
      state,
      unread,
      createdAt,
      lastMessageAt,
    };
    return conversation;
  }

  function participantOf(name: string): TransportConversation['others'][number] {
    const { address, transportUserId } = contactOf(name);
    return { address, transportUserId };
  }

  function messageOf(message: OwnMessage): TransportMessage {
    const { id, conversationId, senderKey, senderName, sealed, sealedKey, sentAt } = message;
    const key = openConversationKey(context, conversationId, sealedKey);
    return {
      id,
      conversationId,
      senderAddress: senderName === null ? DELETED : contactOf(senderName).address,
      body: openBody(key, { conversationId, messageId: id, senderKey }, sealed),
      kind: 'text',
      sentAt,
    };
  }

  async function conversation(accountKey: string, id: string): Promise<TransportConversation> {
    const row = await findConversation(database, accountKey, id);
    if (row === undefined) throw refuse('not_found');
    return conversationOf(row);
  }

  async function findAccount(address: string) {
    const parsed = parseAddress(address, serverName);
    return parsed === null ? undefined : await accountOfAddress(context, parsed);
  }

  const news: Transport['news'] = (accountKey, position, limit, left) =>
    inTurn({ accountKey, left }, async () => {
      const read = await readNews(context, accountKey, bundledPosition(position), limit);
      return {
        ...read,
        conversations: read.conversations.map(conversationOf),
        messages: read.messages.map(messageOf),
      };
    });

  return {
    async identity(accountKey) {
      const { address, transportUserId } = contactOf((await provision(context, accountKey)).name);
      return { address, transportUserId, transport: 'bundled', provisioned: true };
    },
    async resolve(_, address) {
      const account = await findAccount(address);
      return account === undefined ? null : contactOf(account.name);
    },
    async conversations(accountKey, page) {
      const { items, next } = await listConversations(context, accountKey, page);
      return { items: items.map(conversationOf), next };
    },
    async find(accountKey, id) {
      const row = await findConversation(database, accountKey, id);
      return row === undefined ? undefined : conversationOf(row);
    },
    async direct(accountKey, to) {
      const other = await findAccount(to);
      if (other === undefined) throw refuse('not_found', 'Nobody has this address.');
      if (other.key === accountKey) throw refuse('invalid_request', 'You cannot write to yourself.');
      await provision(context, accountKey);
      await provision(context, other.key);
      const { conversationId, created } = await change({ do: 'open', accountKey, otherKey: other.key });
      return { conversation: await conversation(accountKey, conversationId), created };
    },
    async act(accountKey, conversationId, act) {
      await change({ do: act, accountKey, conversationId });
      return conversation(accountKey, conversationId);
    },
    async markRead(accountKey, conversationId, messageId) {
      await change({ do: 'read', accountKey, conversationId, messageId });
      return conversation(accountKey, conversationId);
    },
    messages: (accountKey, conversationId, { limit, at }, left) =>
      inTurn({ accountKey, left }, async () => {
        if ((await findConversation(database, accountKey, conversationId)) === undefined) throw refuse('not_found');
        const page = { before: at === undefined ? null : Number(at), limit };
        const { items, more } = await selectMessages(database, { accountKey, conversationId }, page);
        return { items: items.map(messageOf), next: more ? (items.at(-1)?.change ?? null) : null };
      }),
    async send({ accountKey, installationId }, { conversationId, transactionId, body }) {
      const { message, created } = await change({
        do: 'send',
        accountKey,
        conversationId,
        installationId,
        transactionId,
        body,
      });
      const sender = await findByKey(database, accountKey);
      if (message === undefined || sender === undefined) throw refuse('not_found');
      const senderAddress = contactOf(sender.name).address;
      return { message: { ...message, conversationId, senderAddress, kind: 'text' }, created };
    },
    async begin(accountKey) {
      const position = (await selectChanges(database, accountKey)) ?? 0;
      const limit = limits.messagingSyncConversations.value;
      const newest = await selectLatest(database, accountKey, { before: null, limit });
      return { position, conversations: newest.map(conversationOf), messages: [], hasMore: false };
    },
    news,
    follow: (accountKey, position, { limit, left }) => ({
      onNews: () => undefined,
      read: () => news(accountKey, position, limit, left),
      end: () => undefined,
    }),
  };
}

/** Of a cursor that was given while a bridge was configured, too. */
function bundledPosition(position: Position): number {
  return typeof position === 'number' ? position : position.bundled;
}

/**
 * Where a list of conversations goes on: down from the latest, and then up over those that moved up meanwhile, so that none is
 * missed because somebody wrote to it.
 */
type ListPosition = { readonly down: number; readonly began: number } | { readonly up: number };

async function listConversations(
  { database }: Context,
  accountKey: string,
  { limit, at }: PageAt,
): Promise<TransportPage<OwnConversation>> {
  const position = at as ListPosition | undefined;
  if (position !== undefined && 'up' in position) return listMovedUp(database, accountKey, position.up, limit);
  const began = position?.began ?? (await selectChanges(database, accountKey)) ?? 0;
  const rows = await selectLatest(database, accountKey, { before: position?.down ?? null, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length > limit && last !== undefined)
    return { items, next: { down: last.latestChange, began } satisfies ListPosition };
  // The first page has all there is.
  if (position === undefined) return { items, next: null };
  const movedUp = await selectMovedUp(database, accountKey, { after: began, limit: 1 });
  return { items, next: movedUp.length > 0 ? ({ up: began } satisfies ListPosition) : null };
}

async function listMovedUp(
  database: Context['database'],
  accountKey: string,
  after: number,
  limit: number,
): Promise<TransportPage<OwnConversation>> {
  const rows = await selectMovedUp(database, accountKey, { after, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const next = rows.length > limit ? ({ up: items.at(-1)?.latestChange ?? after } satisfies ListPosition) : null;
  return { items, next };
}

interface RawNews {
  readonly position: number;
  readonly conversations: readonly OwnConversation[];
  readonly messages: readonly OwnMessage[];
  readonly hasMore: boolean;
}

async function readNews({ database }: Context, accountKey: string, after: number, limit: number): Promise<RawNews> {
  const upTo = (await selectChanges(database, accountKey)) ?? 0;
  if (after > upTo) throw refuse('invalid_cursor');
  if (after === upTo) return { position: after, conversations: [], messages: [], hasMore: false };
  const most = limits.messagingSyncConversations.value;
  const messages = await selectNewMessages(database, accountKey, { after, upTo, limit });
  const changed = await selectChanged(database, accountKey, { after, upTo, limit: most + 1 });
  const position = Math.min(
    upTo,
    messages.more ? (messages.items.at(-1)?.change ?? upTo) : upTo,
    changed.length > most ? (changed[most - 1]?.changed ?? upTo) : upTo,
  );
  const within = messages.items.filter(({ change }) => change <= position);
  const conversations = changed.filter((one) => one.changed <= position);
  const known = new Set(conversations.map(({ id }) => id));
  const further = [...new Set(within.map(({ conversationId }) => conversationId))].filter((id) => !known.has(id));
  return {
    position,
    conversations: [
      ...conversations,
      ...(further.length === 0 ? [] : await selectConversationsById(database, accountKey, further)),
    ],
    messages: within,
    hasMore: position < upTo,
  };
}
