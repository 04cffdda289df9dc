// Conversations and messages as one installation sees them: the members of the contract, built one by one.
import type { Conversation, InstallationId, Message } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { opaqueId } from './opaque-ids.ts';
import type { TransportConversation, TransportMessage } from './transport.ts';

type Context = Pick<CoreContext, 'masterKey'>;

export function shownConversation(
  context: Context,
  installationId: InstallationId,
  { id, transport, others, state, unread, createdAt, lastMessageAt }: TransportConversation,
): Conversation {
  return {
    id: opaqueId(context, 'conv', installationId, id),
    kind: 'direct',
    transport,
    participants: others.map(({ address, transportUserId }) => ({
      address,
      ...(transportUserId === undefined ? {} : { transportUserId }),
    })),
    state,
    unread,
    createdAt: createdAt.toISOString(),
    lastMessageAt: lastMessageAt?.toISOString() ?? null,
    encrypted: true,
  };
}

export function shownMessage(
  context: Context,
  installationId: InstallationId,
  { id, conversationId, senderAddress, body, kind, sentAt }: TransportMessage,
): Message {
  return {
    id: opaqueId(context, 'msg', installationId, id),
    conversationId: opaqueId(context, 'conv', installationId, conversationId),
    sender: { address: senderAddress },
    body,
    kind,
    sentAt: sentAt.toISOString(),
  };
}
