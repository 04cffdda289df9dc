// Between core and the messaging bridge (contract 4f, "Bridge"): what each operation takes and gives. Core reads answers by
// these schemas, which leave out every member that they do not name.
import * as z from 'zod';
import { conversationState, messageBody } from './domains/messaging.ts';
import { timestamp } from './primitives.ts';
import { MiB } from './sizes.ts';
import { storable } from './text.ts';

export const MESSAGING_BRIDGE_PATH = '/v1/platform-messaging';
export const MESSAGING_BRIDGE_VERSION = 1;
/** Of an answer, in bytes. A bridge gives fewer items than `limit` rather than more bytes. */
export const MESSAGING_BRIDGE_ANSWER = MiB;
/** Of a request, in bytes: a body of the most code points, each escaped, and the rest. */
export const MESSAGING_BRIDGE_REQUEST = 256 * 1024;
/** How long core waits for an answer, in milliseconds; a `sync` waits 30 s of it at most. */
export const MESSAGING_BRIDGE_PATIENCE = 40_000;

/** Of a conversation or a message, as the bridge knows it: Matrix has room and event ids of at most 255 bytes. */
const bridgeId = z
  .string()
  .min(1)
  .max(255)
  .refine(...storable);
const cursor = z
  .string()
  .min(1)
  .max(512)
  .refine(...storable);
/** `@name:server`. */
const transportUserId = z
  .string()
  .min(4)
  .max(255)
  .startsWith('@')
  .refine(...storable);

/** For whom an operation is. */
export const messagingBridgeSubject = z.strictObject({
  /** Immutable: what the transport's account is bound to. */
  accountId: z.string().min(1).max(128),
  platformName: z.string().min(1).max(255),
  /** `<name>@<server name>`. */
  platformAddress: z.string().min(1).max(255),
  /** Who the answer must be of. */
  transportUserId,
});
export type MessagingBridgeSubject = z.infer<typeof messagingBridgeSubject>;

export const messagingBridgeConversation = z.object({
  id: bridgeId,
  /** Core accepts no conversation where this is not true, and leaves it out of lists. */
  encrypted: z.boolean(),
  /** The other one; empty where nobody else is known. */
  participants: z.array(z.object({ transportUserId })),
  state: conversationState,
  unread: z.int().min(0),
  createdAt: timestamp,
  lastMessageAt: timestamp.nullable(),
});
export type MessagingBridgeConversation = z.infer<typeof messagingBridgeConversation>;

export const messagingBridgeMessage = z.object({
  id: bridgeId,
  conversationId: bridgeId,
  senderId: transportUserId,
  /** From outside it may be longer than what an app sends: an event holds 64 KiB. */
  body: z
    .string()
    .max(65_536)
    .refine(...storable),
  kind: z.enum(['text', 'unsupported']),
  sentAt: timestamp,
});
export type MessagingBridgeMessage = z.infer<typeof messagingBridgeMessage>;

const limit = z.int().min(1).max(100);
const page = z.strictObject({ limit, cursor: cursor.optional() });
const ofConversation = z.strictObject({ conversationId: bridgeId });
const conversationResult = z.object({ conversation: messagingBridgeConversation });

/** Each operation with its input, which is strict, and its result, which keeps known members alone. */
export const messagingBridgeOperations = {
  identity: { input: z.strictObject({}), result: z.object({ identity: z.object({ transportUserId }) }) },
  resolve: {
    input: z.strictObject({ address: transportUserId }),
    result: z.object({ contact: z.object({ transportUserId }).nullable() }),
  },
  conversations: {
    input: page,
    result: z.object({ conversations: z.array(messagingBridgeConversation), nextCursor: cursor.nullable() }),
  },
  direct: {
    input: z.strictObject({ to: transportUserId }),
    result: z.object({ conversation: messagingBridgeConversation, created: z.boolean() }),
  },
  messages: {
    input: z.strictObject({ ...ofConversation.shape, ...page.shape }),
    result: z.object({ messages: z.array(messagingBridgeMessage), nextCursor: cursor.nullable() }),
  },
  send: {
    input: z.strictObject({
      ...ofConversation.shape,
      transactionId: z.string().min(1).max(128),
      message: z.strictObject({ body: messageBody }),
    }),
    result: z.object({ message: messagingBridgeMessage }),
  },
  sync: {
    input: z.strictObject({ cursor: cursor.optional(), timeoutMs: z.int().min(0).max(30_000), limit }),
    result: z.object({
      cursor,
      conversations: z.array(messagingBridgeConversation),
      messages: z.array(messagingBridgeMessage),
      hasMore: z.boolean(),
    }),
  },
  accept: { input: ofConversation, result: conversationResult },
  decline: { input: ofConversation, result: conversationResult },
  leave: { input: ofConversation, result: conversationResult },
  block: { input: ofConversation, result: conversationResult },
  read: { input: z.strictObject({ ...ofConversation.shape, messageId: bridgeId }), result: conversationResult },
  /** The account is no more: its devices, its rooms and what the bridge keeps of it are to be as well. It can be repeated. */
  forget: { input: z.strictObject({}), result: z.object({}) },
} as const;

export type MessagingBridgeOperation = keyof typeof messagingBridgeOperations;
export type MessagingBridgeInput<Operation extends MessagingBridgeOperation> = z.infer<
  (typeof messagingBridgeOperations)[Operation]['input']
>;
export type MessagingBridgeResult<Operation extends MessagingBridgeOperation> = z.infer<
  (typeof messagingBridgeOperations)[Operation]['result']
>;

export const messagingBridgeRequest = z.strictObject({
  version: z.literal(MESSAGING_BRIDGE_VERSION),
  operation: z.enum(Object.keys(messagingBridgeOperations) as MessagingBridgeOperation[]),
  subject: messagingBridgeSubject,
  /** Of the operation's `input`. */
  input: z.unknown(),
});
export type MessagingBridgeRequest = z.infer<typeof messagingBridgeRequest>;

/** A conversation that began to wait for its person, by a request or something unread, or no longer does. */
export const messagingBridgeNotice = z.object({
  /** The same for the same notice, which may come more than once. */
  id: z
    .string()
    .min(1)
    .max(255)
    .refine(...storable),
  /** Whose conversation it is. */
  accountId: messagingBridgeSubject.shape.accountId,
  transportUserId,
  conversation: messagingBridgeConversation,
});
export type MessagingBridgeNotice = z.infer<typeof messagingBridgeNotice>;

/**
 * What core asks for all accounts together, and therefore without a subject: notices since the answer that had this cursor, all of
 * which core has kept. Without one, or with one that the bridge does not know, those that it has not kept come again.
 */
export const messagingBridgeNoticesRequest = z.strictObject({
  version: z.literal(MESSAGING_BRIDGE_VERSION),
  operation: z.literal('notices'),
  input: z.strictObject({ cursor: cursor.optional(), timeoutMs: z.int().min(0).max(30_000), limit }),
});
export type MessagingBridgeNoticesInput = z.infer<typeof messagingBridgeNoticesRequest>['input'];

/** With status 200. */
export const messagingBridgeNoticesAnswer = z.object({
  version: z.literal(MESSAGING_BRIDGE_VERSION),
  result: z.object({ cursor, notices: z.array(messagingBridgeNotice).max(100) }),
});
export type MessagingBridgeNotices = z.infer<typeof messagingBridgeNoticesAnswer>['result'];

/** With status 200. `result` is read by the operation's schema. */
export const messagingBridgeAnswer = z.object({
  version: z.literal(MESSAGING_BRIDGE_VERSION),
  userId: transportUserId,
  provisioned: z.literal(true),
  result: z.unknown(),
});

export const messagingBridgeErrorCode = z.enum([
  /** No such conversation of the subject, or nobody of this address. */
  'not_found',
  /** Somebody there has no device with encryption: nothing was sent. */
  'no_encryption',
  /** The other side's server does not answer. */
  'unreachable',
  'rate_limited',
  /** Not in the present state of the conversation, or a `transactionId` used for something else; also a foreign cursor. */
  'conflict',
  /** The bridge cannot work at present, such as while its homeserver is down. */
  'unavailable',
]);
export type MessagingBridgeErrorCode = z.infer<typeof messagingBridgeErrorCode>;

/** With a status of 400 or more. `message` says it in words, for people. */
export const messagingBridgeFailure = z.object({
  version: z.literal(MESSAGING_BRIDGE_VERSION),
  error: z.object({ code: messagingBridgeErrorCode, message: z.string().max(1_000) }),
});
export type MessagingBridgeFailure = z.infer<typeof messagingBridgeFailure>;
