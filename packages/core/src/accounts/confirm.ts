// Confirms a single operation with a passkey of the account, at the moment it takes effect: a session
// alone, such as that of an unlocked computer, is not enough.
import type { ConfirmedOperation, PasskeyConfirmation } from '@platform/contract';
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { type Changing, changing } from '../database/changing.ts';
import { useChallenge } from './ceremonies.ts';
import type { Refused } from './ceremony-fault.ts';
import { findPasskey, recordPasskeyUse, storedPasskey } from './queries.ts';
import type { SessionCaller } from './session-caller.ts';
import { holdSession } from './session-queries.ts';
import { verifyAssertion } from './verify.ts';

/** What a person confirms, and with what. */
export interface Confirming {
  readonly caller: SessionCaller;
  readonly operation: ConfirmedOperation;
  readonly confirmation: PasskeyConfirmation;
  readonly refused: Refused;
}

/**
 * Runs `effect` in the transaction that records the use of the passkey. The challenge was made for this operation in
 * this session, and is used up whatever comes of it.
 *
 * @throws RefusalError `verification_failed`; `session_expired` when the session has ended meanwhile
 */
export async function confirmed<Result>(
  context: CoreContext,
  { caller, operation, confirmation, refused }: Confirming,
  effect: (trx: Changing) => Promise<Result>,
): Promise<Result> {
  const { config, database, clock } = context;
  const challenge = await useChallenge(database, confirmation.challengeId, 'confirm', clock());
  if (typeof challenge === 'string') throw refused(challenge);
  if (challenge.confirms !== operation) throw refused('challenge-of-another-operation');
  if (challenge.session_id !== caller.sessionId) throw refused('challenge-of-another-session');
  const found = await findPasskey(database, confirmation.credential.id);
  if (found === undefined) throw refused('credential-unknown');
  if (found.account_key !== caller.accountKey) throw refused('credential-of-another-account');
  const passkey = storedPasskey(found);
  const { origin, rpId } = config;
  const expected = { challenge: challenge.challenge, origin, rpId };
  const outcome = await verifyAssertion(expected, passkey, confirmation.credential, true);
  if (!outcome.ok) throw refused(outcome.fault);
  const { id, accountKey, backupEligible } = passkey;
  const { counter, backedUp } = outcome;
  return changing(context, async (trx) => {
    const now = clock();
    // Since they were looked up, the session may have ended, and the passkey may have been used or removed.
    if (!(await holdSession(trx, { sessionId: caller.sessionId, now }))) throw refuse('session_expired');
    const use = { id, accountKey, counter, backedUp, backupEligible, now };
    if (!(await recordPasskeyUse(trx, use))) throw refused('passkey-changed-meanwhile');
    return effect(trx);
  });
}
