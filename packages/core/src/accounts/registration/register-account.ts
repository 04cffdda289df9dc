// Registers an account: its name, its first passkey, the apps it begins with and a session, all or nothing.
import { type CeremonyOptions, type RouteBody, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { newId } from '../../credentials/ids.ts';
import { changing } from '../../database/changing.ts';
import { beginCreation, useChallenge } from '../passkeys/ceremonies.ts';
import { accountNameTaken, insertAccount, insertPasskey } from '../queries.ts';
import { type Browser, type OpenedSession, openSession } from '../sessions/sessions.ts';
import type { Refused } from '../webauthn/ceremony-fault.ts';
import { verifyRegistration } from '../webauthn/verify.ts';
import { requireInvited, useInvitation } from './invitations.ts';

/** The account and session of a person who has just signed in. */
export interface SignedIn extends OpenedSession {
  readonly name: string;
  readonly createdAt: Date;
  /** When the account is deleted; `null` unless its owner asked for that. */
  readonly deletesAt: Date | null;
}

const nameTaken = () => refuse('account_name_taken');

/**
 * The account key is made here and kept with the challenge, because the authenticator stores it as the user handle.
 *
 * @throws RefusalError `not_authorized` where an invitation is needed; `account_name_taken`: account names are public addresses, so this discloses nothing, and it
 *   avoids creating a passkey that no account would use. The transaction of the second step decides.
 */
export async function beginRegistration(
  context: CoreContext,
  { name, invitation }: RouteBody<'auth.register.options'>,
): Promise<CeremonyOptions> {
  const tokenHash = invitation === undefined ? null : hashCredential(invitation);
  // First: without an invitation nobody learns which names are taken.
  await requireInvited(context, { name, tokenHash });
  if (await accountNameTaken(context.database, name)) throw nameTaken();
  const owner = { key: newId('acct', context), name };
  const bindings = { account_key: owner.key, account_name: name, invitation_hash: tokenHash };
  return beginCreation(context, 'register', { owner, existing: [], bindings });
}

export interface RegistrationRequest {
  readonly body: RouteBody<'auth.register.verify'>;
  readonly browser: Browser;
  readonly refused: Refused;
}

/**
 * @throws RefusalError `verification_failed`, `account_name_taken` when another registration was first, or `not_authorized`
 *   when the invitation was used meanwhile or the setting changed
 */
export async function finishRegistration(context: CoreContext, request: RegistrationRequest): Promise<SignedIn> {
  const { config, database, clock } = context;
  const { body, browser, refused } = request;
  const challenge = await useChallenge(database, body.challengeId, 'register', clock());
  if (typeof challenge === 'string') throw refused(challenge);
  const { account_key: key, account_name: name } = challenge;
  if (key === null || name === null) throw new Error('a registration challenge names no account');
  const { origin, rpId } = config;
  const outcome = await verifyRegistration({ challenge: challenge.challenge, origin, rpId }, body.credential);
  if (!outcome.ok) throw refused(outcome.fault);
  return changing(context, async (trx) => {
    const now = clock();
    await useInvitation(trx, context, { name, tokenHash: challenge.invitation_hash, now });
    if (!(await insertAccount(trx, { key, name, created_at: now }))) throw nameTaken();
    const passkey = { accountKey: key, label: 'Passkey 1', now, passkey: outcome.passkey };
    if ((await insertPasskey(trx, passkey)) === undefined) throw refused('credential-taken');
    await context.lifecycle.accountCreated(trx, { key, name });
    return {
      name,
      createdAt: now,
      deletesAt: null,
      ...(await openSession(
        trx,
        context,
        { accountKey: key, passkeyId: outcome.passkey.id, registered: true },
        browser,
      )),
    };
  });
}
