// The request body for a push subscription: only the members that core accepts, whatever else browsers add.
import type { RouteBodyInput } from '@platform/contract';

/** @throws Error when the browser made a subscription without keys, to which nothing could be sent */
export function subscriptionBody(subscription: PushSubscription): RouteBodyInput<'push.subscribe'> {
  const { endpoint, keys } = subscription.toJSON();
  if (endpoint === undefined || keys?.p256dh === undefined || keys.auth === undefined)
    throw new Error('The browser made a subscription without keys.');
  return { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
}
