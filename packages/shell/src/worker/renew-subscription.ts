// The browser's push service gave this browser another endpoint, or ended the one it had: core learns of it at once,
// with no page open. What fails here is made up for when the shell is opened next.
import { type RouteBodyInput, SESSION_HEADER } from '@platform/contract';
import { subscriptionBody } from '../api/subscription-body.ts';
import { readWorkerPin } from '../api/worker-pin.ts';
import type { SubscriptionChange, WorkerScope } from './scope.ts';

const ROUTE = '/v1/push/subscriptions';
const LIMIT_MS = 20_000;

type Scope = Pick<WorkerScope, 'registration'>;
type PinHeaders = Readonly<Record<typeof SESSION_HEADER, string>>;
type Change = Pick<SubscriptionChange, 'oldSubscription' | 'newSubscription'>;

export async function renewSubscription(
  { registration }: Scope,
  { oldSubscription, newSubscription }: Change,
): Promise<void> {
  const pin = await readWorkerPin();
  // Without it, whose session the browser has could not be told.
  if (pin === null) return;
  const headers = { [SESSION_HEADER]: pin };
  if (oldSubscription != null) await send('DELETE', { endpoint: oldSubscription.endpoint }, headers);
  const subscription = newSubscription ?? (await subscribeAgain(registration, oldSubscription ?? null, headers));
  if (subscription === null) return;
  const { status } = await send('POST', subscriptionBody(subscription), headers);
  // Refused: the account is signed out, another one signed in, or the platform does not send to this push service.
  if (status >= 400 && status < 500 && status !== 429) await subscription.unsubscribe();
}

async function subscribeAgain(
  { pushManager }: Pick<ServiceWorkerRegistration, 'pushManager'>,
  former: PushSubscription | null,
  headers: PinHeaders,
): Promise<PushSubscription | null> {
  const key = former?.options.applicationServerKey ?? (await readKey(headers));
  if (key === null) return null;
  return await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function readKey(headers: PinHeaders): Promise<string | null> {
  const answer = await fetch('/v1/push/key', { headers, signal: AbortSignal.timeout(LIMIT_MS) });
  if (!answer.ok) return null;
  const { publicKey } = (await answer.json()) as { publicKey: string | null };
  return publicKey;
}

function send(method: 'DELETE', body: RouteBodyInput<'push.unsubscribe'>, headers: PinHeaders): Promise<Response>;
function send(method: 'POST', body: RouteBodyInput<'push.subscribe'>, headers: PinHeaders): Promise<Response>;
function send(method: string, body: object, headers: PinHeaders): Promise<Response> {
  return fetch(ROUTE, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
}
