// Confirms a single operation with a passkey of the account, at the moment it takes effect: a session
// alone, such as that of an unlocked computer, is not enough.
import type { ConfirmedOperation, PasskeyConfirmation } from '@platform/contract';
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { type Changing, changing } from '../../database/changing.ts';
import { findPasskey, lockAccount, recordPasskeyUse, storedPasskey } from '../queries.ts';
import type { SessionCaller } from '../sessions/session-caller.ts';
import { holdSession } from '../sessions/session-queries.ts';
import type { Refused } from '../webauthn/ceremony-fault.ts';
import { verifyAssertion } from '../webauthn/verify.ts';
import { useConfirmation } from './ceremonies.ts';

/** For so long after what makes a confirmation unnecessary (contract 2). */
export const UNCONFIRMED_MILLISECONDS = 5 * 60_000;

/** Whether `at` was no longer ago; a moment that the clock has not reached is no such moment. */
export function isWithin(milliseconds: number, at: Date | null, now: Date): boolean {
  const passed = at === null ? -1 : now.getTime() - at.getTime();
  return passed >= 0 && passed <= milliseconds;
}

/** What a person confirms, and with what. */
export interface Confirming {
  readonly caller: SessionCaller;
  readonly operation: ConfirmedOperation;
  /** The one thing that it is about, for operations that are about one. */
  readonly subject?: string;
  /** A challenge that names nothing confirms it as well. */
  readonly orNothingNamed?: true;
  /** The effect locks or changes the account itself: then it is locked before its sessions and passkeys, as by a suspension. */
  readonly locksAccount?: true;
  readonly confirmation: PasskeyConfirmation;
  readonly refused: Refused;
}

/**
 * Runs `effect`, which also gets the id of the passkey, in the transaction that records its use. The challenge was made for this
 * operation and subject in this session; it and its assertion are used up whatever comes of it, also when `effect` throws.
 *
 * @throws RefusalError `verification_failed`; `session_expired` when the session has ended meanwhile
 */
export async function confirmed<Result>(
  context: CoreContext,
  { caller, operation, subject, orNothingNamed, locksAccount, confirmation, refused }: Confirming,
  effect: (trx: Changing, passkeyId: string) => Promise<Result>,
): Promise<Result> {
  const { config, database, clock } = context;
  const challenge = await useConfirmation(context, confirmation);
  if (typeof challenge === 'string') throw refused(challenge);
  if (challenge.confirms !== operation) throw refused('challenge-of-another-operation');
  const isOfSubject = challenge.subject === (subject ?? null);
  if (!isOfSubject && !(orNothingNamed === true && challenge.subject === null))
    throw refused('challenge-of-another-subject');
  if (challenge.session_id !== caller.sessionId) throw refused('challenge-of-another-session');
  const found = await findPasskey(database, confirmation.credential.id);
  if (found === undefined) throw refused('credential-unknown');
  if (found.account_key !== caller.accountKey) throw refused('credential-of-another-account');
  const passkey = storedPasskey(found);
  const { origin, rpId, passkeyBackupChanges } = config;
  const allowsBackupChanges = passkeyBackupChanges === 'accepted';
  const expected = { challenge: challenge.challenge, origin, rpId, allowsBackupChanges };
  const outcome = await verifyAssertion(expected, passkey, confirmation.credential, true);
  if (!outcome.ok) throw refused(outcome.fault);
  const { id, accountKey } = passkey;
  return changing(context, async (trx) => {
    const now = clock();
    if (locksAccount === true) await lockAccount(trx, { key: accountKey });
    // Since they were looked up, the session may have ended, and the passkey may have been used or removed.
    if (!(await holdSession(trx, { sessionId: caller.sessionId, now }))) throw refuse('session_expired');
    if (!(await recordPasskeyUse(trx, { stored: passkey, outcome, now }))) throw refused('passkey-changed-meanwhile');
    return effect(trx, id);
  });
}

/** As {@link Confirming}, of a request that may come without. */
export type PossiblyConfirming = Omit<Confirming, 'confirmation'> & {
  readonly confirmation: PasskeyConfirmation | undefined;
};

/**
 * As {@link confirmed}, for an operation that needs no confirmation under circumstances that `effect` can tell: it calls
 * `require` where they do not hold.
 *
 * @throws RefusalError `invalid_request` where a confirmation is needed and there is none; as {@link confirmed}
 */
export function confirmedUnless<Result>(
  context: CoreContext,
  { confirmation, ...confirming }: PossiblyConfirming,
  effect: (trx: Changing, require: () => void) => Promise<Result>,
): Promise<Result> {
  if (confirmation !== undefined)
    return confirmed(context, { ...confirming, confirmation }, (trx) => effect(trx, () => undefined));
  return changing(context, async (trx) => {
    const { sessionId, accountKey } = confirming.caller;
    if (confirming.locksAccount === true) await lockAccount(trx, { key: accountKey });
    if (!(await holdSession(trx, { sessionId, now: context.clock() }))) throw refuse('session_expired');
    return effect(trx, () => {
      const message = `must confirm ${confirming.operation} with a passkey`;
      throw refuse('invalid_request', `\`confirmation\` ${message}.`, { errors: [{ path: 'confirmation', message }] });
    });
  });
}
