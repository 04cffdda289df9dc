// Secret bindings over HTTP, and what Gateways ask before an outbound call.
import type { DomainRoute } from '@platform/contract';
import { ceremonyRefused, type Refused } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { authorizeCall } from './authorize-call.ts';
import { bindSecret, listBindings, unbindSecret } from './bindings.ts';

export type OutboundRoute = DomainRoute<'outbound'>;

export function outboundRoutes(context: CoreContext): HandlersOf<OutboundRoute> {
  return {
    'apps.secretBindings.list': async ({ caller: { accountKey }, params: { appId }, query }) => {
      const items = await listBindings(context, accountKey, appId);
      const list = { name: `bindings:${accountKey}:${appId}`, items, idOf: ({ slot }: (typeof items)[number]) => slot };
      return { status: 200, body: listPage(context, query, list) };
    },
    'apps.secretBindings.bind': async ({ caller, params, body, request }) => {
      const refused: Refused = (fault) => ceremonyRefused(context.log, request, 'bind-secret', fault);
      return { status: 200, body: await bindSecret(context, { caller, ...params, refused }, body) };
    },
    'apps.secretBindings.unbind': async ({ caller: { accountKey }, params }) => {
      await unbindSecret(context, { accountKey, ...params });
      return { status: 204 };
    },
    'gateway.outbound.authorize': async ({ caller, body }) => ({
      status: 200,
      body: await authorizeCall(context, caller, body),
    }),
  };
}
