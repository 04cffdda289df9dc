// The web push domain: browser subscriptions, and delivery of queued messages.
import { jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain, Worker } from '../domain.ts';
import { countWaiting } from './outbox-queries.ts';
import { type PushRoute, pushRoutes } from './routes.ts';
import { listSubscriptions } from './subscriptions.ts';

/** What is there only where the operator set up web push. */
export interface Pushing {
  /** VAPID, as browsers take it. */
  readonly publicKey: string;
  readonly worker: Worker;
}

export function pushDomain(context: CoreContext, pushing: Pushing | null): Domain<PushRoute> {
  return {
    handlers: pushRoutes(context, pushing?.publicKey ?? null),
    workers: pushing === null ? [] : [pushing.worker],
    filesOf: async function* ({ accountKey }) {
      yield jsonFile('push-subscriptions.json', { items: await listSubscriptions(context, { accountKey }) });
    },
    gauges: [{ name: 'platform_core_push_waiting', read: () => countWaiting(context.database) }],
  };
}
