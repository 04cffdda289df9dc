// Opens and ends sessions. Ending one deletes its frontend capabilities and notifies every replica in one transaction.

import { limits } from '@platform/contract';
import { earlier } from '../../clock/clock-guard.ts';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { newId } from '../../credentials/ids.ts';
import { type Changing, changing } from '../../database/changing.ts';
import { notify } from '../../database/notify.ts';
import {
  clearExpiredSessions,
  deleteOtherSessions,
  deleteSession,
  deleteSessionByToken,
  deleteSessionsBeyond,
  deleteSessionsOfPasskey,
  type EndedSession,
  insertSession,
} from './session-queries.ts';

/** For this long an expired session is distinguished from an unknown one. */
const REMEMBERED_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;
const LONGEST_USER_AGENT = 200;

export interface Browser {
  /** As the browser names itself; a hint for people. */
  readonly userAgent: string | undefined;
  /** Value of the session cookie that this browser still had: its session is replaced, not kept beside the new one. */
  readonly formerToken: string | null;
}

export interface OpenedSession {
  /** Public: what a browser names the session by. */
  readonly id: string;
  readonly openedAt: Date;
  readonly expiresAt: Date;
  /** Value for the session cookie: 256 random bits, known to the database by their SHA-256 only. */
  readonly token: string;
  /** Whether other sessions ended with it; an answer waits until this replica has forgotten them. */
  readonly endedOthers: boolean;
}

export async function openSession(
  trx: Changing,
  { config, clock, time, random, lifecycle }: Pick<CoreContext, 'config' | 'clock' | 'time' | 'random' | 'lifecycle'>,
  {
    accountKey,
    passkeyId,
    registered = false,
  }: { readonly accountKey: string; readonly passkeyId: string; readonly registered?: boolean },
  { userAgent, formerToken }: Browser,
): Promise<OpenedSession> {
  const now = clock();
  const former = formerToken === null ? undefined : await deleteSessionByToken(trx, hashCredential(formerToken));
  await clearExpiredSessions(trx, earlier(time.proven(), REMEMBERED_MILLISECONDS));
  const surplus = await deleteSessionsBeyond(trx, accountKey, limits.sessionsPerAccount.value - 1);
  const ended = former === undefined ? surplus : [former, ...surplus];
  await followEnded(trx, lifecycle, ended);
  const token = `pss_${random(32).toString('base64url')}`;
  const id = newId('ses', { clock, random });
  const expiresAt = new Date(now.getTime() + config.sessionMilliseconds);
  await insertSession(trx, {
    id,
    token_hash: hashCredential(token),
    account_key: accountKey,
    passkey_id: passkeyId,
    registered,
    user_agent: userAgent === undefined ? null : readable(userAgent),
    created_at: now,
    last_used_at: now,
    expires_at: expiresAt,
  });
  return { id, openedAt: now, expiresAt, token, endedOthers: ended.length > 0 };
}

/**
 * When it resolves, nodes have ended what clients began with the session, or two seconds have passed.
 *
 * @returns whether there was such a session of this account
 */
export async function endSession(
  context: Pick<CoreContext, 'database' | 'lifecycle'>,
  accountKey: string,
  sessionId: string,
): Promise<boolean> {
  return changing(context, async (trx) => {
    const ended = await deleteSession(trx, accountKey, sessionId);
    if (ended !== undefined) await followEnded(trx, context.lifecycle, [ended]);
    return ended !== undefined;
  });
}

/**
 * Ends every session that a passkey opened, in the transaction that removes the passkey. The caller's own session stays
 * open: it is the owner's, whichever passkey opened it.
 */
export async function endSessionsOfPasskey(
  trx: Changing,
  { lifecycle }: Pick<CoreContext, 'lifecycle'>,
  passkey: { readonly accountKey: string; readonly passkeyId: string; readonly exceptSessionId: string },
): Promise<void> {
  await followEnded(trx, lifecycle, await deleteSessionsOfPasskey(trx, passkey));
}

/** Ends every other session of the account. */
export async function endOtherSessions(
  trx: Changing,
  { lifecycle }: Pick<CoreContext, 'lifecycle'>,
  { accountKey, sessionId }: { readonly accountKey: string; readonly sessionId: string },
): Promise<void> {
  await followEnded(trx, lifecycle, await deleteOtherSessions(trx, accountKey, sessionId));
}

/** What else ends with sessions, in the same transaction. */
async function followEnded(
  trx: Changing,
  lifecycle: CoreContext['lifecycle'],
  ended: readonly EndedSession[],
): Promise<void> {
  if (ended.length === 0) return;
  for (const { id, account_key } of ended)
    await notify(trx, 'session-ended', { accountKey: account_key, sessionId: id });
  const ids = ended.map(({ id }) => id);
  await lifecycle.sessionsEnded(trx, ids);
}

function readable(userAgent: string): string {
  return userAgent.replace(/\p{C}/gu, '').slice(0, LONGEST_USER_AGENT);
}
