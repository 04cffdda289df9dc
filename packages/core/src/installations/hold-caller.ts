// Who acts, in the transaction of what they do. A caller is as of the beginning of its request; what was revoked, paused,
// suspended, removed or signed out since then must not take effect any more, nor may it be while the transaction lasts.
import { refuse } from '@platform/contract';
import { holdAccounts, holdSession, type SessionCaller } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { Executor } from '../database/schema.ts';
import { pausedRefusal } from '../http/paused-refusal.ts';
import type { FrontendCaller } from './frontend-caller.ts';
import { holdIdentity } from './hold-queries.ts';
import type { InstallationCaller } from './installation-caller.ts';

type HoldContext = Pick<CoreContext, 'clock'>;

/**
 * Called before any other lock is taken.
 *
 * @param others accounts that the transaction locks too: all are locked here, in the order that every transaction has
 * @returns the caller with the grants of now, which stay until the transaction ends
 * @throws RefusalError `unauthenticated`, `runtime_paused`
 */
export async function heldCaller<Caller extends FrontendCaller | InstallationCaller>(
  trx: Executor,
  { clock }: HoldContext,
  caller: Caller,
  others: readonly string[] = [],
): Promise<Caller> {
  await holdAccounts(trx, [caller.accountKey, ...others]);
  if (caller.kind === 'frontend' && !(await holdSession(trx, { sessionId: caller.sessionId, now: clock() })))
    throw refuse('unauthenticated', 'The session has ended meanwhile.');
  const row = await holdIdentity(trx, caller.installationId);
  if (row === undefined) throw refuse('unauthenticated', 'The app was removed meanwhile, or its account is suspended.');
  if (row.paused) throw pausedRefusal();
  return { ...caller, grants: row.grants };
}

/** The same for a person. @throws RefusalError `session_expired` */
export async function heldPerson(
  trx: Executor,
  { clock }: HoldContext,
  { accountKey, sessionId }: Pick<SessionCaller, 'accountKey' | 'sessionId'>,
  others: readonly string[] = [],
): Promise<void> {
  await holdAccounts(trx, [accountKey, ...others]);
  if (!(await holdSession(trx, { sessionId, now: clock() }))) throw refuse('session_expired');
}
