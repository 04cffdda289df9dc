// The push subscriptions of an account: bound to the session in which they were made and deleted with it. The database
// holds them sealed, and a keyed hash, since knowing an endpoint suffices to send to its browser.
import { limits, type PushSubscription, pushSubscriptionId, type RouteBody, refuse } from '@platform/contract';
import type { SessionCaller } from '../accounts/face.ts';
import { holdSession } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { keyedHash, seal, unseal } from '../credentials/master-key.ts';
import { type PushAddress, readPushAddress } from './push-address.ts';
import {
  deleteSubscription,
  deleteSubscriptionById,
  deleteSubscriptionsBeyond,
  findSubscription,
  lockSubscriptions,
  selectSubscriptions,
  upsertSubscription,
} from './queries.ts';

const PURPOSE = 'push-subscription';

/**
 * The same endpoint again keeps its id and what waits for it. From another account, the browser has changed hands: what
 * waited for the former one is gone.
 *
 * @throws RefusalError `invalid_request` for an endpoint or keys that are refused, `unauthenticated` when the session
 *   ended meanwhile
 */
export async function subscribe(
  context: CoreContext,
  { accountKey, sessionId, expiresAt }: SessionCaller,
  body: RouteBody<'push.subscribe'>,
): Promise<PushSubscription> {
  const { masterKey, random, clock, config, database } = context;
  const address = readPushAddress(body, config.pushPrivateOrigins);
  const endpointHash = keyedHash(masterKey, PURPOSE, address.endpoint);
  const now = clock();
  return await database.transaction().execute(async (trx) => {
    await lockSubscriptions(trx);
    if (!(await holdSession(trx, { sessionId, now }))) throw refuse('unauthenticated');
    const former = await findSubscription(trx, endpointHash);
    const isOwn = former?.account_key === accountKey;
    if (former !== undefined && !isOwn) await deleteSubscriptionById(trx, former.id);
    const id = former !== undefined && isOwn ? former.id : newId('psh', context);
    const sealed = seal(masterKey, PURPOSE, id, Buffer.from(JSON.stringify(address)), random);
    await upsertSubscription(trx, { id, accountKey, sessionId, expiresAt, endpointHash, sealed, now });
    await deleteSubscriptionsBeyond(trx, accountKey, limits.pushSubscriptions.value);
    return { id: pushSubscriptionId.parse(id), createdAt: now.toISOString() };
  });
}

/** Those whose session lasts. At most `limits.pushSubscriptions`. */
export async function listSubscriptions(
  { database, clock }: CoreContext,
  { accountKey }: Pick<SessionCaller, 'accountKey'>,
): Promise<PushSubscription[]> {
  const rows = await selectSubscriptions(database, accountKey, clock());
  return rows.map(({ id, created_at }) => ({
    id: pushSubscriptionId.parse(id),
    createdAt: created_at.toISOString(),
  }));
}

/** Ends what this account has at the endpoint, if anything: the answer says nothing about others. */
export async function unsubscribe(
  { database, masterKey }: CoreContext,
  { accountKey }: SessionCaller,
  { endpoint }: RouteBody<'push.unsubscribe'>,
): Promise<void> {
  const endpointHash = keyedHash(masterKey, PURPOSE, endpoint);
  await database.transaction().execute(async (trx) => {
    await lockSubscriptions(trx);
    await deleteSubscription(trx, accountKey, endpointHash);
  });
}

/** Where to reach a browser, for the moment of sending. @throws Error when it was sealed with another key */
export function openAddress(masterKey: Buffer, { id, sealed }: { id: string; sealed: Buffer }): PushAddress {
  return JSON.parse(unseal(masterKey, PURPOSE, id, sealed).toString('utf8')) as PushAddress;
}
