// Messaging over HTTP, for apps by their Gateway or their frontend.
import { type ConversationId, type DomainRoute, type InstallationId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { markNoticesRead } from './notices.ts';
import { openId } from './opaque-ids.ts';
import { shownConversation, shownMessage } from './shown.ts';
import { syncing } from './sync.ts';
import type { Acting, ConversationAct, Transport, TransportConversation } from './transport.ts';

export type MessagingRoute = DomainRoute<'messaging'>;

export function messagingRoutes(context: CoreContext, transport: Transport): HandlersOf<MessagingRoute> {
  const sync = syncing(context, transport);

  function answered(installationId: InstallationId, conversation: TransportConversation) {
    return { conversation: shownConversation(context, installationId, conversation) };
  }

  async function act({ accountKey, installationId }: Acting, conversation: ConversationId, what: ConversationAct) {
    const id = openId(context, 'conv', installationId, conversation);
    const decided = await transport.act(accountKey, id, what);
    // What was accepted and not read yet is still news.
    if (what !== 'accept' || decided.unread === 0) await markNoticesRead(context, accountKey, decided);
    return { status: 200, body: answered(installationId, decided) };
  }

  return {
    'services.messaging.identity': async ({ caller }) => ({
      status: 200,
      body: { identity: await transport.identity(caller.accountKey) },
    }),
    'services.messaging.resolve': async ({ caller: { accountKey }, params }) => {
      const contact = await transport.resolve(accountKey, params.address);
      if (contact === null) throw refuse('not_found', 'Nobody has this address.');
      return { status: 200, body: { contact } };
    },
    'services.messaging.conversations': async ({ caller: { accountKey, installationId }, query }) => {
      const list = `conversations:${installationId}`;
      const at = query.cursor === undefined ? undefined : context.cursors.decode(list, query.cursor);
      const { items, next } = await transport.conversations(accountKey, { limit: query.limit, at });
      return {
        status: 200,
        body: {
          items: items.map((one) => shownConversation(context, installationId, one)),
          nextCursor: next === null ? null : context.cursors.encode(list, next),
        },
      };
    },
    'services.messaging.direct': async ({ caller: { accountKey, installationId }, body }) => {
      const { conversation, created } = await transport.direct(accountKey, body.to);
      return { status: created ? 201 : 200, body: answered(installationId, conversation) };
    },
    'services.messaging.accept': ({ caller, params }) => act(caller, params.conversationId, 'accept'),
    'services.messaging.decline': ({ caller, params }) => act(caller, params.conversationId, 'decline'),
    'services.messaging.leave': ({ caller, params }) => act(caller, params.conversationId, 'leave'),
    'services.messaging.block': ({ caller, params }) => act(caller, params.conversationId, 'block'),
    'services.messaging.read': async ({ caller: { accountKey, installationId }, params, body }) => {
      const conversationId = openId(context, 'conv', installationId, params.conversationId);
      const messageId = openId(context, 'msg', installationId, body.messageId);
      const conversation = await transport.markRead(accountKey, conversationId, messageId);
      if (conversation.unread === 0) await markNoticesRead(context, accountKey, conversation);
      return { status: 200, body: answered(installationId, conversation) };
    },
    'services.messaging.messages': async ({ caller: { accountKey, installationId }, params, query, left }) => {
      const id = openId(context, 'conv', installationId, params.conversationId);
      const list = `messages:${installationId}:${id}`;
      const at = query.cursor === undefined ? undefined : context.cursors.decode(list, query.cursor);
      const { items, next } = await transport.messages(accountKey, id, { limit: query.limit, at }, left);
      return {
        status: 200,
        body: {
          items: items.map((one) => shownMessage(context, installationId, one)),
          nextCursor: next === null ? null : context.cursors.encode(list, next),
        },
      };
    },
    'services.messaging.send': async ({ caller, params, body }) => {
      const { installationId } = caller;
      const { message, created } = await transport.send(caller, {
        conversationId: openId(context, 'conv', installationId, params.conversationId),
        transactionId: body.transactionId,
        body: body.message.body,
      });
      return { status: created ? 201 : 200, body: { message: shownMessage(context, installationId, message) } };
    },
    'services.messaging.sync': async ({ caller, body, left, stillAllowed }) => ({
      status: 200,
      body: await sync({ caller, body, left, stillAllowed }),
    }),
  };
}
