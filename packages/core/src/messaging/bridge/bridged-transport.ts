// Messages through the bridge (contract 4f, "Bridge"). What it answers is believed only as far as it fits the question: the account,
// the conversation and the words that were asked about. Conversations of the bundled transport stay readable beside it.
import { createHash } from 'node:crypto';
import {
  limits,
  type MessagingBridgeInput,
  type MessagingBridgeOperation,
  type MessagingBridgeResult,
  type MessagingBridgeSubject,
  type MessagingContact,
  RefusalError,
  refuse,
} from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { keyedHash } from '../../credentials/master-key.ts';
import { accountOfAddress } from '../account-queries.ts';
import { type Address, addressText, parseAddress, userIdOf } from '../addresses.ts';
import { bridgeIdOf } from '../opaque-ids.ts';
import { provisionBridged } from '../provisioning.ts';
import type { News, Position, Transport, TransportConversation, TransportMessage } from '../transport.ts';
import type { BridgeClient, CallOptions } from './bridge-client.ts';
import { conversationOf, encryptedOnly, messageOf, readable, subjectOf } from './bridge-views.ts';
import { countRequest, findSend, forgetRequest, keepSend } from './queries.ts';

type Context = Pick<CoreContext, 'config' | 'database' | 'clock' | 'masterKey'>;

const DAY = 86_400_000;
/** Items that a bridge is asked for at most. */
const MOST_ITEMS = 100;
const BUNDLED = 'This conversation was begun without the bridge: it can be read, and not written in. Open a new one.';

/** Where a list of conversations goes on: first those of the bridge, then those of the bundled transport, which no longer change. */
type ListPosition = { readonly bridge: string } | { readonly bundled: unknown };

export function bridgedTransport(context: Context, client: BridgeClient, bundled: Transport): Transport {
  const { database, config } = context;
  const { serverName } = config.messaging;

  const subjectOfAccount = async (accountKey: string): Promise<MessagingBridgeSubject> =>
    subjectOf(accountKey, await provisionBridged(context, accountKey), serverName);

  async function call<Operation extends MessagingBridgeOperation>(
    accountKey: string,
    operation: Operation,
    input: MessagingBridgeInput<Operation>,
    options?: CallOptions,
  ): Promise<{ readonly result: MessagingBridgeResult<Operation>; readonly own: MessagingBridgeSubject }> {
    const own = await subjectOfAccount(accountKey);
    return { own, result: await client.call(own, operation, input, options) };
  }

  /** The conversation that was asked about. */
  function shown(
    operation: MessagingBridgeOperation,
    { conversation }: MessagingBridgeResult<'accept'>,
    own: MessagingBridgeSubject,
    asked: { readonly id: string } | { readonly with: string },
  ): TransportConversation {
    if (!conversation.encrypted) throw client.wrong(operation, 'the conversation has no encryption');
    const fits =
      'id' in asked
        ? conversation.id === asked.id
        : conversation.participants.some(({ transportUserId }) => transportUserId === asked.with);
    if (!fits) throw client.wrong(operation, 'the conversation is another one');
    return conversationOf(conversation, { transportUserId: own.transportUserId, serverName });
  }

  function contactOf(address: Address): MessagingContact {
    return {
      address: addressText(address, serverName),
      transportUserId: userIdOf(address, serverName),
      external: address.kind === 'external',
    };
  }

  /** Whom an address names: of this platform by core, of others by the bridge; `null` for nobody. */
  async function find(accountKey: string, text: string): Promise<Address | null> {
    const address = parseAddress(text, serverName);
    if (address === null) return null;
    if (address.kind === 'local') {
      const account = await accountOfAddress(context, address);
      return account === undefined ? null : address;
    }
    const { contact } = (await call(accountKey, 'resolve', { address: address.userId })).result;
    if (contact === null) return null;
    if (contact.transportUserId !== address.userId) throw client.wrong('resolve', 'the contact is another one');
    return address;
  }

  async function newsOfBridge(
    accountKey: string,
    cursor: string | null,
    { limit, timeoutMs, ...options }: { readonly limit: number; readonly timeoutMs: number } & CallOptions,
  ): Promise<Omit<News, 'position'> & { readonly cursor: string }> {
    const input = { limit: Math.min(limit, MOST_ITEMS), timeoutMs, ...(cursor === null ? {} : { cursor }) };
    const { result, own } = await cursorsOf(() => call(accountKey, 'sync', input, options));
    if (result.messages.length > input.limit) throw client.wrong('sync', 'it has more messages than were asked for');
    return {
      cursor: result.cursor,
      hasMore: result.hasMore,
      conversations: encryptedOnly(result.conversations).map((one) =>
        conversationOf(one, { transportUserId: own.transportUserId, serverName }),
      ),
      messages: readable(result.messages, result.conversations).map((one) => messageOf(one, serverName)),
    };
  }

  /** What the bundled transport has comes first, and alone: together both could be more than was asked for. */
  async function news(
    accountKey: string,
    position: Position,
    {
      limit,
      left,
      ofBridge,
    }: { readonly limit: number; readonly left: AbortSignal | undefined; readonly ofBridge: OfBridge },
  ): Promise<News> {
    const at = partsOf(position);
    const own = await bundled.news(accountKey, at.bundled, limit, left);
    const reached = partsOf(own.position).bundled;
    if (own.messages.length > 0 || own.hasMore)
      return { ...own, position: { bundled: reached, bridge: at.bridge }, hasMore: true };
    const others = await ofBridge(at.bridge);
    if (others === null) return { ...own, position: { bundled: reached, bridge: at.bridge } };
    return {
      position: { bundled: reached, bridge: others.cursor },
      conversations: [...own.conversations, ...others.conversations],
      messages: others.messages,
      hasMore: others.hasMore,
    };
  }

  return {
    async identity(accountKey) {
      const { result, own } = await call(accountKey, 'identity', {});
      if (result.identity.transportUserId !== own.transportUserId)
        throw client.wrong('identity', 'the identity is of another account');
      const { platformAddress: address, transportUserId } = own;
      return { address, transportUserId, transport: 'bridge', provisioned: true };
    },
    async resolve(accountKey, text) {
      const address = await find(accountKey, text);
      return address === null ? null : contactOf(address);
    },
    async conversations(accountKey, { limit, at }) {
      const position = at as ListPosition | undefined;
      if (position !== undefined && 'bundled' in position) {
        const { items, next } = await bundled.conversations(accountKey, { limit, at: position.bundled ?? undefined });
        return { items, next: next === null ? null : ({ bundled: next } satisfies ListPosition) };
      }
      const most = Math.min(limit, MOST_ITEMS);
      const input = { limit: most, ...(position === undefined ? {} : { cursor: position.bridge }) };
      const { result, own } = await cursorsOf(() => call(accountKey, 'conversations', input));
      if (result.conversations.length > most)
        throw client.wrong('conversations', 'it has more conversations than were asked for');
      const items = encryptedOnly(result.conversations).map((one) =>
        conversationOf(one, { transportUserId: own.transportUserId, serverName }),
      );
      if (result.nextCursor !== null) return { items, next: { bridge: result.nextCursor } satisfies ListPosition };
      const { items: older } = await bundled.conversations(accountKey, { limit: 1, at: undefined });
      return { items, next: older.length === 0 ? null : ({ bundled: null } satisfies ListPosition) };
    },
    find: (accountKey, id) => bundled.find(accountKey, id),
    async direct(accountKey, to) {
      const address = await find(accountKey, to);
      if (address === null) throw refuse('not_found', 'Nobody has this address.');
      const userId = userIdOf(address, serverName);
      const own = await subjectOfAccount(accountKey);
      if (userId === own.transportUserId) throw refuse('invalid_request', 'You cannot write to yourself.');
      const other = await accountOfAddress(context, address);
      // Whoever is invited has to be there.
      if (other !== undefined) await call(other.key, 'identity', {});
      const isNew = await requireRequests(context, accountKey, userId);
      try {
        const { result } = await call(accountKey, 'direct', { to: userId });
        return { conversation: shown('direct', result, own, { with: userId }), created: result.created };
      } catch (error) {
        // Nobody was written to.
        if (isNew && error instanceof RefusalError && error.refusal.code === 'not_found')
          await forgetRequest(database, accountKey, userId);
        throw error;
      }
    },
    async act(accountKey, conversationId, act) {
      const id = bridgeIdOf(conversationId);
      if (id === null) return bundled.act(accountKey, conversationId, act);
      const { result, own } = await call(accountKey, act, { conversationId: id });
      return shown(act, result, own, { id });
    },
    async markRead(accountKey, conversationId, messageId) {
      const id = bridgeIdOf(conversationId);
      const message = bridgeIdOf(messageId);
      if (id === null) return bundled.markRead(accountKey, conversationId, messageId);
      if (message === null) throw refuse('not_found');
      const { result, own } = await call(accountKey, 'read', { conversationId: id, messageId: message });
      return shown('read', result, own, { id });
    },
    async messages(accountKey, conversationId, { limit, at }, left) {
      const id = bridgeIdOf(conversationId);
      if (id === null) return bundled.messages(accountKey, conversationId, { limit, at }, left);
      const most = Math.min(limit, MOST_ITEMS);
      const input = { conversationId: id, limit: most, ...(at === undefined ? {} : { cursor: String(at) }) };
      const { result } = await cursorsOf(() => call(accountKey, 'messages', input, { signal: left }));
      if (result.messages.length > most || result.messages.some((one) => one.conversationId !== id))
        throw client.wrong('messages', 'it has messages that were not asked for');
      return { items: readable(result.messages).map((one) => messageOf(one, serverName)), next: result.nextCursor };
    },
    async send({ accountKey, installationId }, { conversationId, transactionId, body }) {
      const id = bridgeIdOf(conversationId);
      if (id === null) {
        if ((await bundled.find(accountKey, conversationId)) === undefined) throw refuse('not_found');
        throw refuse('conversation_conflict', BUNDLED);
      }
      const transaction = { installationId, transactionId };
      const digest = keyedHash(context.masterKey, 'bridge-send', `${id}\0${body}`);
      const former = await findSend(database, transaction);
      if (former !== undefined && !former.equals(digest))
        throw refuse('conversation_conflict', 'This transactionId was used for another message. Choose a new one.');
      const { result, own } = await call(accountKey, 'send', {
        conversationId: id,
        transactionId: createHash('sha256').update(`${installationId}\0${transactionId}`).digest('base64url'),
        message: { body },
      });
      const { message } = result;
      if (message.conversationId !== id || message.senderId !== own.transportUserId || message.body !== body)
        throw client.wrong('send', 'the message is another one');
      const created = await keepSend(database, { ...transaction, accountKey, digest });
      return { message: messageOf(message, serverName) satisfies TransportMessage, created };
    },
    async begin(accountKey, limit) {
      const own = await bundled.begin(accountKey, limit);
      const { cursor, ...others } = await newsOfBridge(accountKey, null, { limit, timeoutMs: 0 });
      return {
        position: { bundled: partsOf(own.position).bundled, bridge: cursor },
        conversations: [...others.conversations, ...own.conversations].slice(
          0,
          limits.messagingSyncConversations.value,
        ),
        messages: others.messages,
        hasMore: others.hasMore,
      };
    },
    news: (accountKey, position, limit, left) =>
      news(accountKey, position, {
        limit,
        left,
        ofBridge: (cursor) => newsOfBridge(accountKey, cursor, { limit, timeoutMs: 0, signal: left }),
      }),
    follow(accountKey, position, { limit, milliseconds, left }) {
      const ending = new AbortController();
      const signal = AbortSignal.any([left, ending.signal]);
      let outcome: PromiseSettledResult<Awaited<ReturnType<typeof newsOfBridge>>> | undefined;
      let wake = (): void => undefined;
      void Promise.allSettled([
        newsOfBridge(accountKey, partsOf(position).bridge, { limit, timeoutMs: milliseconds, waits: true, signal }),
      ]).then(([settled]) => {
        outcome = settled;
        wake();
      });
      return {
        onNews: (given) => {
          wake = given;
        },
        read: () =>
          news(accountKey, position, {
            limit,
            left,
            ofBridge: async () => {
              if (outcome?.status === 'rejected') throw outcome.reason;
              return outcome?.value ?? null;
            },
          }),
        end: () => ending.abort(refuse('concurrency_limited', 'Nobody waits any more.')),
      };
    },
  };
}

type OfBridge = (cursor: string | null) => Promise<(Omit<News, 'position'> & { readonly cursor: string }) | null>;

/** Of a cursor that was given before there was a bridge, nothing of that was read. */
function partsOf(position: Position): { readonly bundled: number; readonly bridge: string | null } {
  return typeof position === 'number' ? { bundled: position, bridge: null } : position;
}

/** A conflict where only the cursor can be wrong: the bridge does not know it, or no more. */
async function cursorsOf<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusalError && error.refusal.code === 'conversation_conflict') throw refuse('invalid_cursor');
    throw error;
  }
}

/** @returns whether somebody is new to the account. @throws RefusalError `rate_limited` beyond `limits.messagingRequests` */
async function requireRequests(context: Context, accountKey: string, userId: string): Promise<boolean> {
  const now = context.clock();
  const most = limits.messagingRequests.value;
  const isNew = await context.database
    .transaction()
    .execute((trx) => countRequest(trx, { accountKey, userId, now, since: new Date(now.getTime() - DAY), most }));
  if (isNew === null)
    throw refuse('rate_limited', `An account may write to ${most} new people a day. Try again tomorrow.`, {
      retryAfter: DAY / 1_000,
    });
  return isNew;
}
