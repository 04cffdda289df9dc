// Requests to connect and connections over HTTP, for the shell.
import type { DomainRoute } from '@platform/contract';
import { refuse } from '@platform/contract';
import { ceremonyRefused, type Refused } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { endConnection, listConnections } from './connections.ts';
import { allowRequest, denyRequest, reviewRequest } from './requests.ts';

export type ConnectionRoute = DomainRoute<'connections'>;

export function connectionRoutes(context: CoreContext): HandlersOf<ConnectionRoute> {
  return {
    'account.connectionRequests.read': async ({ params }) => ({
      status: 200,
      body: await reviewRequest(context, params.id),
    }),
    'account.connectionRequests.decide': async ({ caller, params: { id }, body, request }) => {
      const { decision, scopes, confirmation } = body;
      if (decision === 'deny' || confirmation === undefined)
        return { status: 200, body: await denyRequest(context, id, caller.accountKey) };
      const refused: Refused = (fault) => ceremonyRefused(context.log, request, 'allow-connection', fault);
      return { status: 200, body: await allowRequest(context, { id, scopes, caller, confirmation, refused }) };
    },
    'account.connections.list': async ({ caller: { accountKey }, query }) => {
      const items = await listConnections(context, accountKey);
      const list = { name: `connections:${accountKey}`, items, idOf: ({ id }: { readonly id: string }) => id };
      return { status: 200, body: listPage(context, query, list) };
    },
    'account.connections.revoke': async ({ caller, params }) => {
      if (!(await endConnection(context, params.id, caller.accountKey))) throw refuse('not_found');
      return { status: 204 };
    },
  };
}
