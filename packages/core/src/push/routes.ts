// Web push over HTTP: the key that browsers subscribe with, and their subscriptions.
import { type DomainRoute, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { listSubscriptions, subscribe, unsubscribe } from './subscriptions.ts';

export type PushRoute = DomainRoute<'push'>;

/** @param publicKey VAPID key of the platform; `null` where it sends no web push */
export function pushRoutes(context: CoreContext, publicKey: string | null): HandlersOf<PushRoute> {
  return {
    'push.key': async () => ({ status: 200, body: { publicKey } }),
    'push.list': async ({ caller, query }) => {
      const items = await listSubscriptions(context, caller);
      const list = { name: `push:${caller.accountKey}`, items, idOf: ({ id }: (typeof items)[number]) => id };
      return { status: 200, body: listPage(context, query, list) };
    },
    'push.subscribe': async ({ caller, body }) => {
      if (publicKey === null)
        throw refuse('not_found', 'This platform sends no web push; its operator sets PLATFORM_VAPID_SUBJECT.');
      return { status: 201, body: { subscription: await subscribe(context, caller, body) } };
    },
    'push.unsubscribe': async ({ caller, body }) => {
      await unsubscribe(context, caller, body);
      return { status: 204 };
    },
  };
}
