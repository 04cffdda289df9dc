// Messaging (specification 2.7, 4.8; contract 4f): direct conversations of accounts, between each other by the transport that
// comes with the platform, or with anybody through a bridge. Apps see these members alone, whatever a transport knows.
import * as z from 'zod';
import { type Errors, KiB, type Limits, MiB, type Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';
import { isStorable } from '../text.ts';
import { json, page, pageQuery } from './common.ts';

const limits = {
  messageBody: { value: 16_384, unit: 'characters', meaning: 'body of a message, in Unicode code points' },
  messageTransaction: { value: 128, unit: 'characters', meaning: '`transactionId` of a message' },
  messageAddress: { value: 255, unit: 'characters', meaning: 'address of a person' },
  messageStore: {
    value: 1_024 * MiB,
    unit: 'bytes',
    meaning: 'messages that an account sent and that are kept, sealed; one more is `disk_quota`',
  },
  messagingSendRate: { value: 60, unit: 'per minute', meaning: 'messages that one installation sends' },
  messagingDirectRate: { value: 20, unit: 'per minute', meaning: 'conversations that one installation opens' },
  messagingRequests: {
    value: 20,
    unit: 'items',
    meaning: 'people that an account may write to for the first time, or ask again, within a day',
  },
  messagingRequestMessages: {
    value: 3,
    unit: 'items',
    meaning: 'messages in a conversation that the other side has not accepted',
  },
  messagingRequestDays: {
    value: 30,
    unit: 'days',
    meaning: 'time after which a request may be made again, and may arrive again after it was declined',
  },
  messagingSyncWait: { value: 30_000, unit: 'milliseconds', meaning: 'longest wait of `POST /sync` for news' },
  messagingSyncMessages: { value: 100, unit: 'items', meaning: 'messages in one answer of `POST /sync`' },
  messagingAnswer: {
    value: 256 * KiB,
    unit: 'bytes',
    meaning: 'messages in one answer, sealed; further ones, of which one may begin within, are on the next page',
  },
  messagingSyncConversations: {
    value: 200,
    unit: 'items',
    meaning: 'conversations in one answer of `POST /sync`, besides those of its messages',
  },
  messagingSyncs: { value: 32, unit: 'items', meaning: 'calls of `POST /sync` of one installation that wait' },
  messagingCursorDays: { value: 30, unit: 'days', meaning: 'lifetime of a cursor of `POST /sync`' },
} as const satisfies Limits;

const errors = {
  conversation_conflict: {
    status: 409,
    title: 'This cannot be done in the present state of the conversation.',
    help: '`detail` says why: it waits for the other side, was left, belongs to another transport, or the `transactionId` was used for another message.',
  },
  transport_unavailable: {
    status: 503,
    title: 'The messaging transport is not available.',
    help: 'The operator must configure PLATFORM_MESSAGING_BRIDGE_URL and PLATFORM_MESSAGING_BRIDGE_TOKEN together, and the bridge must run.',
  },
} as const satisfies Errors;

/** A host name or IPv4 address, or an IPv6 address in brackets, with or without a port (appendix 4.1). */
const SERVER_NAME = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::[0-9]{1,5})?$/;

/** Whether it can be the server name of addresses. @param name in lower case */
export function isServerName(name: string): boolean {
  return name.length <= 230 && SERVER_NAME.test(name);
}

/**
 * How a caller names a person: `<name>` or `<name>@<server name>` or `@<name>:<server name>`. Core normalises it; what is none is
 * refused by core, which knows its own server name.
 */
export const addressInput = z.string().min(1).max(limits.messageAddress.value);

/** An id of a conversation as one installation knows it. */
export const conversationId = z.string().max(512).brand<'conv'>();
export type ConversationId = z.infer<typeof conversationId>;
/** An id of a message as one installation knows it. */
export const messageId = z.string().max(512).brand<'msg'>();
export type MessageId = z.infer<typeof messageId>;

export const messageBody = z
  .string()
  .min(1)
  .refine((text) => [...text].length <= limits.messageBody.value, {
    error: `must have at most ${limits.messageBody.value} characters`,
  })
  .refine(isStorable, 'must not contain NUL or unpaired surrogates');

export const transactionId = z
  .string()
  .min(1)
  .max(limits.messageTransaction.value)
  .refine(isStorable, 'must not contain NUL or unpaired surrogates');

export const messagingTransport = z.enum(['bundled', 'bridge']);
export type MessagingTransport = z.infer<typeof messagingTransport>;

export const messagingIdentity = z.strictObject({
  /** `<name>@<server name>`. */
  address: z.string(),
  /** `@<name>:<server name>`. */
  transportUserId: z.string(),
  transport: messagingTransport,
  provisioned: z.literal(true),
});
export type MessagingIdentity = z.infer<typeof messagingIdentity>;

/** Somebody who can be written to. */
export const messagingContact = z.strictObject({
  /** `<name>@<server name>` for an account of this platform, the full transport user id for everybody else. */
  address: z.string(),
  transportUserId: z.string(),
  external: z.boolean(),
});
export type MessagingContact = z.infer<typeof messagingContact>;

export const conversationState = z.enum(['open', 'requested', 'request', 'left']);
/**
 * `requested`: the other side has not accepted yet; `request`: a stranger's, which waits for this account; `left`: this account
 * declined, left or blocked.
 */
export type ConversationState = z.infer<typeof conversationState>;

export const conversation = z.strictObject({
  id: conversationId,
  kind: z.literal('direct'),
  transport: messagingTransport,
  /** The other one. */
  participants: z.array(z.strictObject({ address: z.string(), transportUserId: z.string().optional() })),
  state: conversationState,
  /** Messages of the other side that no app of the account has marked as read. */
  unread: z.int(),
  createdAt: timestamp,
  /** `null` without messages. */
  lastMessageAt: timestamp.nullable(),
  encrypted: z.literal(true),
});
export type Conversation = z.infer<typeof conversation>;

export const message = z.strictObject({
  id: messageId,
  conversationId,
  /** `deleted account` for an account that is no more. */
  sender: z.strictObject({ address: z.string() }),
  body: z.string(),
  /** `unsupported`: something other than text from outside; `body` says so in words. */
  kind: z.enum(['text', 'unsupported']),
  sentAt: timestamp,
});
export type Message = z.infer<typeof message>;

export const conversationAnswer = z.strictObject({ conversation });
export const messageAnswer = z.strictObject({ message });

export const openDirectBody = z.strictObject({ to: addressInput });
export const sendMessageBody = z.strictObject({ transactionId, message: z.strictObject({ body: messageBody }) });
export type SendMessage = z.input<typeof sendMessageBody>;
export const readConversationBody = z.strictObject({ messageId });

export const messagingSyncBody = z.strictObject({
  /** Of a former answer. Without one: the newest conversations, and a cursor of now. */
  cursor: z.string().min(1).max(2_048).optional(),
  /** How long to wait while there is nothing new. */
  timeoutMs: z.int().min(0).max(limits.messagingSyncWait.value).default(0),
  limit: z.int().min(1).max(limits.messagingSyncMessages.value).default(50),
});
export type MessagingSync = z.input<typeof messagingSyncBody>;

export const messagingSyncAnswer = z.strictObject({
  /** What the next call sends. */
  cursor: z.string(),
  /** What changed, as they are now, and those of `messages`. */
  conversations: z.array(conversation),
  /** In the order in which they came. */
  messages: z.array(message),
  /** There is more, which the next call gives at once. */
  hasMore: z.boolean(),
});
export type MessagingNews = z.infer<typeof messagingSyncAnswer>;

/** As every list; a bridge has longer cursors. */
const listQuery = z.strictObject({ ...pageQuery.shape, cursor: z.string().max(2_048).optional() });

const BASE = '/v1/services/messaging';
const ofConversation = z.strictObject({ conversationId });

const callers = ['frontend', 'installation'] as const;
/** Where a bridge is configured: it does not answer, or not as it must. */
const ofBridge = ['transport_unavailable', 'upstream_failed', 'upstream_timeout'] as const;
const reads = { callers, grant: { id: 'messaging.read', resource: '*' }, rate: 'service' } as const;
const sends = { callers, grant: { id: 'messaging.send', resource: '*' }, rate: 'service' } as const;

const routes = {
  'services.messaging.identity': {
    ...reads,
    method: 'GET',
    path: `${BASE}/identity`,
    summary: 'Who the account is to others; made at the first call',
    refuses: [...ofBridge, 'not_found'],
    answers: { 200: z.strictObject({ identity: messagingIdentity }) },
  },
  'services.messaging.resolve': {
    callers,
    grant: { id: 'messaging.resolve', resource: '*' },
    rate: 'service',
    method: 'GET',
    path: '/v1/services/messaging/contacts/:address',
    summary: 'Look up whom an address names',
    params: z.strictObject({ address: addressInput }),
    refuses: [...ofBridge],
    answers: { 200: z.strictObject({ contact: messagingContact }) },
  },
  'services.messaging.conversations': {
    ...reads,
    method: 'GET',
    path: `${BASE}/conversations`,
    summary: 'Conversations of the account, the latest first',
    query: listQuery,
    refuses: [...ofBridge],
    answers: { 200: page(conversation) },
  },
  'services.messaging.direct': {
    ...sends,
    rate: 'messagingDirect',
    method: 'POST',
    path: '/v1/services/messaging/conversations/direct',
    summary: 'Open the conversation with somebody: a request until they accept it',
    body: json(openDirectBody),
    refuses: [...ofBridge, 'not_found', 'conversation_conflict'],
    answers: { 200: conversationAnswer, 201: conversationAnswer },
    fillsDatabase: true,
  },
  'services.messaging.accept': {
    ...sends,
    method: 'POST',
    path: '/v1/services/messaging/conversations/:conversationId/accept',
    summary: 'Accept a request',
    params: ofConversation,
    refuses: [...ofBridge, 'conversation_conflict'],
    answers: { 200: conversationAnswer },
  },
  'services.messaging.decline': {
    ...sends,
    method: 'POST',
    path: '/v1/services/messaging/conversations/:conversationId/decline',
    summary: 'Decline a request; the other side does not learn of it',
    params: ofConversation,
    refuses: [...ofBridge, 'conversation_conflict'],
    answers: { 200: conversationAnswer },
  },
  'services.messaging.leave': {
    ...sends,
    method: 'POST',
    path: '/v1/services/messaging/conversations/:conversationId/leave',
    summary: 'Leave a conversation; what is written to it later does not arrive',
    params: ofConversation,
    refuses: [...ofBridge, 'conversation_conflict'],
    answers: { 200: conversationAnswer },
  },
  'services.messaging.block': {
    ...sends,
    method: 'POST',
    path: '/v1/services/messaging/conversations/:conversationId/block',
    summary: 'Block the other side, which does not learn of it',
    params: ofConversation,
    refuses: [...ofBridge, 'conversation_conflict'],
    answers: { 200: conversationAnswer },
  },
  'services.messaging.read': {
    ...reads,
    method: 'POST',
    path: '/v1/services/messaging/conversations/:conversationId/read',
    summary: 'Mark messages as read, up to one',
    params: ofConversation,
    body: json(readConversationBody),
    refuses: [...ofBridge],
    answers: { 200: conversationAnswer },
  },
  'services.messaging.messages': {
    ...reads,
    method: 'GET',
    path: '/v1/services/messaging/conversations/:conversationId/messages',
    summary: 'Messages of a conversation, the newest first',
    params: ofConversation,
    query: listQuery,
    refuses: [...ofBridge, 'concurrency_limited'],
    answers: { 200: page(message) },
  },
  'services.messaging.send': {
    ...sends,
    rate: 'messagingSend',
    method: 'POST',
    path: '/v1/services/messaging/conversations/:conversationId/messages',
    summary: 'Send a text message; repeated with its transactionId, it is sent once',
    params: ofConversation,
    body: json(sendMessageBody),
    refuses: [...ofBridge, 'conversation_conflict', 'disk_quota'],
    answers: { 200: messageAnswer, 201: messageAnswer },
    fillsDatabase: true,
  },
  'services.messaging.sync': {
    ...reads,
    method: 'POST',
    path: `${BASE}/sync`,
    summary: 'What changed since a cursor; waits for it',
    body: json(messagingSyncBody),
    refuses: [...ofBridge, 'invalid_cursor'],
    answers: { 200: messagingSyncAnswer },
  },
} as const satisfies Routes;

export const messaging = { limits, errors, routes } as const;
