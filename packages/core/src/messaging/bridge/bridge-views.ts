// What a bridge says of conversations and messages, as core knows it: built member by member, with addresses of core's own making.
import type { MessagingBridgeConversation, MessagingBridgeMessage, MessagingBridgeSubject } from '@platform/contract';
import { type Address, addressText, parseAddress, userIdOf } from '../addresses.ts';
import { ofBridge } from '../opaque-ids.ts';
import type { TransportConversation, TransportMessage } from '../transport.ts';

/** Of somebody whose user id has characters that no address has. */
const NO_ADDRESS = 'unknown';

/** For whom the bridge is asked. */
export function subjectOf(accountKey: string, name: string, serverName: string): MessagingBridgeSubject {
  const address: Address = { kind: 'local', name };
  return {
    accountId: accountKey,
    platformName: name,
    platformAddress: addressText(address, serverName),
    transportUserId: userIdOf(address, serverName),
  };
}

export function conversationOf(
  { id, participants, state, unread, createdAt, lastMessageAt }: MessagingBridgeConversation,
  own: { readonly transportUserId: string; readonly serverName: string },
): TransportConversation {
  return {
    id: ofBridge(id),
    transport: 'bridge',
    others: [...new Set(participants.map(({ transportUserId }) => transportUserId))]
      .filter((userId) => userId !== own.transportUserId)
      .map((userId) => participantOf(userId, own.serverName)),
    state,
    unread,
    createdAt: new Date(createdAt),
    lastMessageAt: lastMessageAt === null ? null : new Date(lastMessageAt),
  };
}

export function messageOf(
  { id, conversationId, senderId, body, kind, sentAt }: MessagingBridgeMessage,
  serverName: string,
): TransportMessage {
  return {
    id: ofBridge(id),
    conversationId: ofBridge(conversationId),
    senderAddress: participantOf(senderId, serverName).address,
    body,
    kind,
    sentAt: new Date(sentAt),
  };
}

function participantOf(userId: string, serverName: string): TransportConversation['others'][number] {
  const colon = userId.indexOf(':');
  const address = parseAddress(userId, serverName);
  // Other spellings name somebody else.
  if (address !== null && userIdOf(address, serverName) === userId)
    return { address: addressText(address, serverName), transportUserId: userId };
  // Somebody of our own server who is no account, such as the bridge itself.
  return /^@[!-9;-~]+$/.test(userId.slice(0, colon)) && userId.slice(colon + 1) === serverName
    ? { address: userId, transportUserId: userId }
    : { address: NO_ADDRESS };
}

/** Each once, those without encryption left out. */
export function encryptedOnly(all: readonly MessagingBridgeConversation[]): MessagingBridgeConversation[] {
  return [...new Map(all.map((one) => [one.id, one])).values()].filter(({ encrypted }) => encrypted);
}

/** Each once, without those of conversations that are said to have no encryption. */
export function readable(
  messages: readonly MessagingBridgeMessage[],
  conversations: readonly MessagingBridgeConversation[] = [],
): MessagingBridgeMessage[] {
  const open = new Set(conversations.filter(({ encrypted }) => !encrypted).map(({ id }) => id));
  return [...new Map(messages.map((one) => [one.id, one])).values()].filter(
    ({ conversationId }) => !open.has(conversationId),
  );
}
