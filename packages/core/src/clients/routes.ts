// The routes of data-plane capabilities: an owner ends them, a backend gets and verifies them, a node asks about them.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { disconnectClients, renewAppCapability, validOnNode, verifyCapability } from './capabilities.ts';

export type ClientRoute = DomainRoute<'clients'>;

export function clientRoutes(context: CoreContext): HandlersOf<ClientRoute> {
  return {
    'apps.disconnect': async ({ caller, params }) => {
      await disconnectClients(context, { accountKey: caller.accountKey, appId: params.appId });
      return { status: 204 };
    },
    'services.appCapability.renew': async ({ caller }) => ({
      status: 201,
      body: await renewAppCapability(context, caller.installationId),
    }),
    'services.appCapability.verify': async ({ caller, body }) => ({
      status: 200,
      body: await verifyCapability(context, caller.installationId, body.capability),
    }),
    'node.capabilities': async ({ caller, params, body }) => ({
      status: 200,
      body: await validOnNode(context, caller.nodeId, { installationId: params.id, hashes: body.hashes }),
    }),
  };
}
