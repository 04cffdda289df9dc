// Signs in with a discoverable passkey: the authenticator says who, the signature proves it.
import type { RouteBody } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { changing } from '../../database/changing.ts';
import { deletionOf } from '../deletion/deletion-grace.ts';
import { useChallenge } from '../passkeys/ceremonies.ts';
import { findPasskey, recordPasskeyUse, storedPasskey } from '../queries.ts';
import type { SignedIn } from '../registration/register-account.ts';
import type { Refused } from '../webauthn/ceremony-fault.ts';
import { verifyAssertion } from '../webauthn/verify.ts';
import { type Browser, openSession } from './sessions.ts';

export interface SignInRequest {
  readonly body: RouteBody<'auth.login.verify'>;
  readonly browser: Browser;
  readonly refused: Refused;
}

/** @throws RefusalError `verification_failed` */
export async function signIn(context: CoreContext, { body, browser, refused }: SignInRequest): Promise<SignedIn> {
  const { config, database, clock } = context;
  const challenge = await useChallenge(database, body.challengeId, 'login', clock());
  if (typeof challenge === 'string') throw refused(challenge);
  const found = await findPasskey(database, body.credential.id);
  if (found === undefined) throw refused('credential-unknown');
  const stored = storedPasskey(found);
  const { origin, rpId, passkeyBackupChanges } = config;
  const allowsBackupChanges = passkeyBackupChanges === 'accepted';
  const expected = { challenge: challenge.challenge, origin, rpId, allowsBackupChanges };
  const outcome = await verifyAssertion(expected, stored, body.credential);
  if (!outcome.ok) throw refused(outcome.fault);
  return changing(context, async (trx) => {
    const { id, accountKey } = stored;
    const use = { stored, outcome, now: clock() };
    // Between the look-up and here the passkey may have been used, removed, or its account suspended.
    if (!(await recordPasskeyUse(trx, use))) throw refused('passkey-changed-meanwhile');
    const opened = await openSession(trx, context, { accountKey, passkeyId: id }, browser);
    const deletesAt = deletionOf(found.deletion_requested_at);
    return { name: found.name, createdAt: found.created_at, deletesAt, ...opened };
  });
}
