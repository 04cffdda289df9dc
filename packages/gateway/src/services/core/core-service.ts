// The platform services that core answers itself: the request goes on as it came, under the installation's core
// service credential instead of the workload's (specification 5.3).

import { forward } from '../../forward.ts';
import { filterCoreResponse } from '../../response-head.ts';
import { claimCorePool } from '../../upstream-pools.ts';
import type { GatewayService, ServiceContext } from '../registry.ts';

export function coreService(context: ServiceContext): GatewayService {
  const pool = claimCorePool(context);
  const identity = ['authorization', `Bearer ${context.coreServiceCredential}`];
  return {
    prefix: '/v1/services/',
    handle: (incoming) =>
      forward(incoming, {
        name: 'core',
        dispatcher: pool.get(),
        path: incoming.path + incoming.query,
        headers: identity.concat(incoming.head.forwarded),
        filterResponse: filterCoreResponse,
        headersTimeout: context.headersTimeout,
        onFailure: context.onFailure,
      }),
    close: () => pool.release(),
  };
}
