// The outbound domain: which secret a slot uses, and whether a workload may call an outside service with it now. The
// call itself is the Gateway's; core sees neither its body nor its answer.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { dropUndeclared } from './bindings.ts';
import { outboundPolicy } from './policy.ts';
import { countBindings, deleteBindings } from './queries.ts';
import { type OutboundRoute, outboundRoutes } from './routes.ts';

export function outboundDomain(context: CoreContext): Domain<OutboundRoute> {
  return {
    handlers: outboundRoutes(context),
    policy: outboundPolicy,
    opens: {
      'secrets.use': async ({ installationId }) => [await countBindings(context.database, installationId)],
    },
    upgraded: dropUndeclared,
    installationEnded: deleteBindings,
  };
}
