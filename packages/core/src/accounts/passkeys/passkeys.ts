// Further passkeys of an account: added from a session or with an operator's link, renamed, removed but for the last.
import { createHash } from 'node:crypto';
import { type CeremonyOptions, limits, type PasskeyView, type RouteBody, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { changing } from '../../database/changing.ts';
import { endTokensOfPasskey } from '../author-tokens/author-tokens.ts';
import { deletionOf } from '../deletion/deletion-grace.ts';
import {
  deletePasskey,
  type Executor,
  insertPasskey,
  labelPasskey,
  lockAccount,
  type Passkey,
  passkeysOf,
} from '../queries.ts';
import type { SignedIn } from '../registration/register-account.ts';
import type { SessionCaller } from '../sessions/session-caller.ts';
import { findEnrolment, holdSession, registrationOf, takeEnrolmentLink } from '../sessions/session-queries.ts';
import { type Browser, endSessionsOfPasskey, openSession } from '../sessions/sessions.ts';
import type { Refused } from '../webauthn/ceremony-fault.ts';
import { verifyRegistration } from '../webauthn/verify.ts';
import type { NewPasskey } from '../webauthn/verify-registration.ts';
import { beginCreation, useChallenge } from './ceremonies.ts';
import {
  type Confirming,
  confirmed,
  confirmedUnless,
  isWithin,
  type PossiblyConfirming,
  UNCONFIRMED_MILLISECONDS,
} from './confirm.ts';

interface CreationAnswer {
  readonly body: RouteBody<'auth.passkeys.verify'>;
  readonly refused: Refused;
}

/** Credential ids reach 1,023 bytes and say more than a list needs: outwards a passkey is named by their SHA-256. */
export function publicId(credentialId: string): string {
  return createHash('sha256').update(credentialId).digest('hex');
}

export function passkeyView(passkey: Passkey): PasskeyView {
  return {
    id: publicId(passkey.id),
    label: passkey.label,
    createdAt: passkey.created_at.toISOString(),
    lastUsedAt: passkey.last_used_at?.toISOString() ?? null,
    backedUp: passkey.backed_up,
    transports: passkey.transports,
  };
}

/**
 * A session alone adds no passkey, which would outlive it: another passkey confirms it, at the beginning, and the challenge goes
 * on for this session. For five minutes after a registration its session needs none, so that a second passkey can be
 * offered at once.
 *
 * @throws RefusalError `not_authorized` when the account has as many passkeys as it may have; as {@link confirmedUnless}
 */
export function beginPasskey(
  context: CoreContext,
  confirming: Omit<PossiblyConfirming, 'operation'>,
): Promise<CeremonyOptions> {
  const { accountKey, accountName, sessionId } = confirming.caller;
  return confirmedUnless(context, { ...confirming, operation: 'passkey.add' }, async (trx, require) => {
    const registeredAt = await registrationOf(trx, sessionId);
    if (!isWithin(UNCONFIRMED_MILLISECONDS, registeredAt, context.clock())) require();
    const existing = await passkeysOf(trx, accountKey);
    refuseBeyondLimit(existing);
    const bindings = { account_key: accountKey, session_id: sessionId };
    const owner = { key: accountKey, name: accountName };
    return beginCreation(context, 'add-passkey', { owner, existing, bindings }, trx);
  });
}

/**
 * @throws RefusalError `verification_failed`, also when another session began; `not_authorized` as above;
 *   `session_expired` when the session has ended meanwhile
 */
export async function finishPasskey(
  context: CoreContext,
  caller: SessionCaller,
  { body, refused }: CreationAnswer,
): Promise<Passkey> {
  const { config, database, clock, lifecycle } = context;
  const challenge = await useChallenge(database, body.challengeId, 'add-passkey', clock());
  if (typeof challenge === 'string') throw refused(challenge);
  if (challenge.session_id !== caller.sessionId) throw refused('challenge-of-another-session');
  const { origin, rpId } = config;
  const outcome = await verifyRegistration({ challenge: challenge.challenge, origin, rpId }, body.credential);
  if (!outcome.ok) throw refused(outcome.fault);
  return database.transaction().execute(async (trx) => {
    if ((await lockAccount(trx, { key: caller.accountKey })) === undefined) throw refused('credential-unknown');
    await requireSession(trx, context, caller);
    refuseBeyondLimit(await passkeysOf(trx, caller.accountKey));
    const added = await addPasskey(trx, { context, accountKey: caller.accountKey, passkey: outcome.passkey, refused });
    await lifecycle.securityEvent(trx, caller, { kind: 'passkey-added', label: added.label });
    return added;
  });
}

/** @throws RefusalError `verification_failed` for a link that is unknown, used, expired or of a suspended account */
export async function beginEnrolment(context: CoreContext, token: string, refused: Refused): Promise<CeremonyOptions> {
  const enrolmentHash = hashCredential(token);
  const account = await findEnrolment(context.database, enrolmentHash, context.clock());
  if (account === undefined) throw refused('enrolment-link-unusable');
  const existing = await passkeysOf(context.database, account.key);
  const bindings = { account_key: account.key, enrolment_hash: enrolmentHash };
  return beginCreation(context, 'enrol', { owner: account, existing, bindings });
}

/**
 * Adds the passkey, consumes the link and signs in, atomically. The limit on passkeys does not apply: a person who lost
 * them all cannot remove one first.
 */
export async function finishEnrolment(
  context: CoreContext,
  { body, refused, browser }: CreationAnswer & { readonly browser: Browser },
): Promise<SignedIn> {
  const { config, database, clock, lifecycle } = context;
  const challenge = await useChallenge(database, body.challengeId, 'enrol', clock());
  if (typeof challenge === 'string') throw refused(challenge);
  const { account_key: accountKey, enrolment_hash: tokenHash } = challenge;
  if (accountKey === null || tokenHash === null) throw new Error('an enrolment challenge names no link');
  const { origin, rpId } = config;
  const outcome = await verifyRegistration({ challenge: challenge.challenge, origin, rpId }, body.credential);
  if (!outcome.ok) throw refused(outcome.fault);
  return changing(context, async (trx) => {
    const account = await lockAccount(trx, { key: accountKey });
    const usable = account !== undefined && (await takeEnrolmentLink(trx, { tokenHash, accountKey, now: clock() }));
    if (!usable) throw refused('enrolment-link-unusable');
    const added = await addPasskey(trx, { context, accountKey, passkey: outcome.passkey, refused });
    const opened = await openSession(trx, context, { accountKey, passkeyId: added.id }, browser);
    const by = { accountKey, sessionId: opened.id };
    await lifecycle.securityEvent(trx, by, { kind: 'recovery-link-used', label: added.label });
    const deletesAt = deletionOf(account.deletion_requested_at);
    return { name: account.name, createdAt: account.created_at, deletesAt, ...opened };
  });
}

interface Addition {
  readonly context: CoreContext;
  readonly accountKey: string;
  readonly passkey: NewPasskey;
  readonly refused: Refused;
}

async function addPasskey(trx: Executor, { context, accountKey, passkey, refused }: Addition): Promise<Passkey> {
  const { length } = await passkeysOf(trx, accountKey);
  const added = await insertPasskey(trx, { accountKey, label: `Passkey ${length + 1}`, now: context.clock(), passkey });
  if (added === undefined) throw refused('credential-taken');
  return added;
}

/**
 * A stolen session must not outlive its end: it may have ended while the ceremony was verified, or the lock of
 * the account waited for.
 *
 * @throws RefusalError `session_expired`
 */
async function requireSession(
  trx: Executor,
  { clock }: Pick<CoreContext, 'clock'>,
  { sessionId }: SessionCaller,
): Promise<void> {
  if (!(await holdSession(trx, { sessionId, now: clock() }))) throw refuse('session_expired');
}

function refuseBeyondLimit(existing: readonly Passkey[]): void {
  const { value } = limits.passkeysPerAccount;
  if (existing.length >= value)
    throw refuse('not_authorized', `An account has at most ${value} passkeys. Remove one you no longer use first.`);
}

/** @throws RefusalError `not_found` */
export function renamePasskey({ database }: CoreContext, accountKey: string, id: string, label: string) {
  return database.transaction().execute(async (trx) => {
    const wanted = (await passkeysOf(trx, accountKey)).find((passkey) => publicId(passkey.id) === id);
    const renamed = wanted && (await labelPasskey(trx, accountKey, wanted.id, label));
    if (renamed === undefined) throw refuse('not_found');
    return renamed;
  });
}

/**
 * Removes a passkey and ends the sessions it opened, except the caller's own, and the command lines and clients that it allowed.
 *
 * @throws RefusalError `not_found`; `not_authorized` for the last passkey, without which the account is unreachable; as
 *   {@link confirmed}
 */
export async function removePasskey(
  context: CoreContext,
  confirming: Omit<Confirming, 'operation' | 'subject'>,
  id: string,
): Promise<void> {
  const { accountKey, sessionId } = confirming.caller;
  // Of two removals at the same time the second sees what the first left.
  const removal = { ...confirming, operation: 'passkey.remove', subject: id, locksAccount: true } as const;
  await confirmed(context, removal, async (trx) => {
    const existing = await passkeysOf(trx, accountKey);
    const wanted = existing.find((passkey) => publicId(passkey.id) === id);
    if (wanted === undefined) throw refuse('not_found');
    if (existing.length === 1)
      throw refuse('not_authorized', 'This is the only passkey of the account. Add another one before removing it.');
    await deletePasskey(trx, accountKey, wanted.id);
    const opened = { accountKey, passkeyId: wanted.id, exceptSessionId: sessionId };
    await endSessionsOfPasskey(trx, context, opened);
    await endTokensOfPasskey(trx, opened);
    await context.lifecycle.passkeyRemoved(trx, { accountKey, passkeyId: wanted.id });
    await context.lifecycle.securityEvent(trx, confirming.caller, { kind: 'passkey-removed', label: wanted.label });
  });
}
