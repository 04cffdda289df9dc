// Collections over HTTP: for apps by their Gateway or frontend, and for the shell what people decide themselves.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import {
  changeCollection,
  createCollection,
  deleteCollection,
  listCollections,
  readCollection,
} from './collections/collections.ts';
import { waitingForChanges } from './items/changes.ts';
import { deleteContent, findContent, listContent, writeContent } from './items/items.ts';
import { acceptInvitation, declineInvitation, inviteMember, listInvitations } from './members/invitations.ts';
import { listMembers, removeMember } from './members/members.ts';
import { sendBytes } from './send-bytes.ts';

export type ContentRoute = DomainRoute<'content'>;

export function contentRoutes(context: CoreContext): HandlersOf<ContentRoute> {
  const changes = waitingForChanges(context);
  return {
    'services.content.create': async ({ caller, body }) => ({
      status: 201,
      body: { collection: await createCollection(context, caller, body) },
    }),
    'services.content.list': async ({ caller, query }) => ({
      status: 200,
      body: await listCollections(context, caller, query),
    }),
    'services.content.read': async ({ caller, params: { id } }) => ({
      status: 200,
      body: { collection: await readCollection(context, caller, id) },
    }),
    'services.content.change': async ({ caller, params: { id }, body }) => ({
      status: 200,
      body: { collection: await changeCollection(context, caller, id, body) },
    }),
    'services.content.delete': async ({ caller, params: { id } }) => {
      await deleteCollection(context, caller, id);
      return { status: 204 };
    },
    'services.content.items': async ({ caller, params: { id }, query }) => ({
      status: 200,
      body: await listContent(context, caller, id, query),
    }),
    'services.content.items.read': async ({ caller, params: { id, key }, request, reply }) => {
      await sendBytes(context, { request, reply }, async () => {
        const { etag, size, body_id: bodyId } = await findContent(context, caller, { collectionId: id, key });
        return { etag, size, bodyId, type: 'application/octet-stream' };
      });
      return { streamed: true };
    },
    'services.content.items.write': async ({ caller, params: { id, key }, request, reply, stillAllowed }) => {
      const place = { collectionId: id, key };
      const writing = { caller, place, request: request.raw, stillAllowed };
      const { item, created } = await writeContent(context, writing);
      reply.header('etag', item.etag);
      return { status: created ? 201 : 200, body: { item } };
    },
    'services.content.items.delete': async ({ caller, params: { id, key }, request }) => {
      await deleteContent(context, { caller, place: { collectionId: id, key }, request: request.raw });
      return { status: 204 };
    },
    'services.content.changes': async ({ caller, params: { id }, query, left, stillAllowed }) => ({
      status: 200,
      body: await changes({ caller, id, query, left, stillAllowed }),
    }),
    'services.content.members': async ({ caller, params: { id }, query }) => ({
      status: 200,
      body: await listMembers(context, caller, id, query),
    }),
    'services.content.members.invite': async ({ caller, params: { id }, body }) => ({
      status: 201,
      body: { invitation: await inviteMember(context, caller, id, body) },
    }),
    'services.content.members.remove': async ({ caller, params: { id, memberId } }) => {
      await removeMember(context, caller, { id, memberId });
      return { status: 204 };
    },
    'account.content.invitations': async ({ caller, query }) => ({
      status: 200,
      body: await listInvitations(context, caller.accountKey, query),
    }),
    'account.content.accept': async ({ caller: { accountKey, sessionId }, params: { id }, body: { appId } }) => ({
      status: 200,
      body: { collection: await acceptInvitation(context, { accountKey, sessionId, id, appId }) },
    }),
    'account.content.decline': async ({ caller: { accountKey, sessionId }, params: { id }, body }) => {
      await declineInvitation(context, { accountKey, sessionId, id, appId: body?.appId });
      return { status: 204 };
    },
  };
}
