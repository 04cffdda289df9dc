// Begins ceremonies: a challenge that works once, for one operation, and the options for the browser.
import { createHash } from 'node:crypto';
import { type CeremonyOptions, type ConfirmedOperation, type PasskeyConfirmation, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import { isMissingReference } from '../../database/missing-reference.ts';
import { insertUsedConfirmation } from '../confirmation-queries.ts';
import { type Challenge, type Executor, insertChallenge, type Passkey, passkeysOf, takeChallenge } from '../queries.ts';
import type { SessionCaller } from '../sessions/session-caller.ts';
import { assertionIdentity } from '../webauthn/assertion-identity.ts';
import { passkeyAlgorithms } from '../webauthn/passkey-algorithms.ts';

type Bindings = Partial<Omit<Challenge, 'id' | 'operation' | 'expires_at'>> & {
  /** For which it can be used. Default: as long as any. */
  readonly milliseconds?: number;
};

/** Whom a new passkey is for. */
export interface PasskeyOwner {
  /** The internal account key: its bytes are the user handle (specification 2.1). */
  readonly key: string;
  readonly name: string;
}

/** Operations in which the shell opens the recipient of the account, to wrap it for a further passkey, or makes another. */
const OPENS_RECIPIENT: readonly ConfirmedOperation[] = ['passkey.add', 'recipient.replace'];

/** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8) bound to `operation`. */
export async function beginCreation(
  context: CoreContext,
  operation: Exclude<Challenge['operation'], 'login' | 'confirm'>,
  { owner, existing, bindings }: { owner: PasskeyOwner; existing: readonly Passkey[]; bindings: Bindings },
  executor: Executor = context.database,
): Promise<CeremonyOptions> {
  const { config } = context;
  const { id, challenge } = await storeChallenge(context, operation, bindings, executor);
  return {
    challengeId: id,
    publicKey: {
      challenge: challenge.toString('base64url'),
      rp: { id: config.rpId, name: config.rpName },
      user: { id: Buffer.from(owner.key).toString('base64url'), name: owner.name, displayName: owner.name },
      pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: config.challengeMilliseconds,
      excludeCredentials: existing.map(({ id, transports }) => ({ type: 'public-key', id, transports })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
      // Some passkeys give a result at once; others say only whether they ever will.
      extensions: { credProps: true, prf: { eval: { first: prfInputs(config).first } } },
    },
  };
}

/** PublicKeyCredentialRequestOptionsJSON (section 5.1.9) for a discoverable passkey, with the PRF input of this RP. */
export async function beginRequest(context: CoreContext): Promise<CeremonyOptions> {
  const { config } = context;
  const { id, challenge } = await storeChallenge(context, 'login', {});
  return {
    challengeId: id,
    publicKey: {
      challenge: challenge.toString('base64url'),
      rpId: config.rpId,
      allowCredentials: [],
      userVerification: 'required',
      timeout: config.challengeMilliseconds,
      extensions: { prf: { eval: prfInputs(config) } },
    },
  };
}

/** The same (section 5.1.9) for one of the account's passkeys, to confirm `operation` about `subject` in this session. */
export async function beginConfirmation(
  context: CoreContext,
  { accountKey, sessionId }: Pick<SessionCaller, 'accountKey' | 'sessionId'>,
  {
    operation,
    subject = null,
  }: { readonly operation: ConfirmedOperation; readonly subject?: string | null | undefined },
): Promise<CeremonyOptions> {
  const { config, database } = context;
  const passkeys = await passkeysOf(database, accountKey);
  const bindings = { account_key: accountKey, session_id: sessionId, confirms: operation, subject };
  const own = await context.lifecycle.challengeOf({ accountKey, operation, subject });
  const milliseconds = Math.min(own?.milliseconds ?? config.challengeMilliseconds, config.challengeMilliseconds);
  const { id, challenge } = await storeChallenge(context, 'confirm', {
    ...bindings,
    ...(own === undefined ? {} : { challenge: own.challenge, milliseconds, repeats_until: own.repeatsUntil }),
  });
  return {
    challengeId: id,
    publicKey: {
      challenge: challenge.toString('base64url'),
      rpId: config.rpId,
      allowCredentials: passkeys.map(({ id, transports }) => ({ type: 'public-key', id, transports })),
      userVerification: 'required',
      timeout: milliseconds,
      ...(OPENS_RECIPIENT.includes(operation) ? { extensions: { prf: { eval: prfInputs(config) } } } : {}),
    },
  };
}

/** Contract 2: `first` is scoped to the RP; `second` is the older salt, so that old bundles can be rewrapped. */
export function prfInputs({ rpId, prfLegacySalt }: Pick<CoreContext['config'], 'rpId' | 'prfLegacySalt'>): {
  first: string;
  second?: string;
} {
  const first = createHash('sha256').update(`platform/prf/v1:${rpId}`).digest('base64url');
  return prfLegacySalt === null ? { first } : { first, second: prfLegacySalt.toString('base64url') };
}

async function storeChallenge(
  { database, clock, time, random, config }: CoreContext,
  operation: Challenge['operation'],
  { milliseconds = config.challengeMilliseconds, ...bindings }: Bindings,
  executor: Executor = database,
): Promise<Challenge> {
  const now = clock();
  const challenge: Challenge = {
    id: newId('chl', { clock, random }),
    challenge: random(32),
    operation,
    account_key: null,
    account_name: null,
    session_id: null,
    enrolment_hash: null,
    invitation_hash: null,
    confirms: null,
    subject: null,
    repeats_until: null,
    ...bindings,
    expires_at: new Date(now.getTime() + milliseconds),
  };
  await insertChallenge(executor, challenge, time.proven()).catch((error: unknown) => {
    // The session may have ended since it was looked up.
    throw challenge.session_id !== null && isMissingReference(error) ? refuse('session_expired') : error;
  });
  return challenge;
}

type Unusable = 'challenge-unknown' | 'challenge-expired' | 'challenge-of-another-operation';

/**
 * Uses a challenge up before anything is verified: whatever comes of the ceremony, it never works again. Not part of
 * the caller's transaction, which a failed verification undoes.
 */
export async function useChallenge(
  database: Executor,
  id: string,
  operation: Challenge['operation'],
  now: Date,
): Promise<Challenge | Unusable> {
  const challenge = await takeChallenge(database, id);
  return challenge === undefined ? 'challenge-unknown' : usable(challenge, operation, now);
}

/**
 * As {@link useChallenge}, for a confirmation. Where the same challenge may be given again, its assertion is used up as well: it holds
 * for no other attempt, however this one ends.
 */
export async function useConfirmation(
  { database, clock, time }: Pick<CoreContext, 'database' | 'clock' | 'time'>,
  { challengeId, credential }: PasskeyConfirmation,
): Promise<Challenge | Unusable | 'assertion-used'> {
  const challenge = await takeChallenge(database, challengeId);
  if (challenge === undefined) return 'challenge-unknown';
  if (challenge.repeats_until !== null) {
    const use = { hash: assertionIdentity(credential), expires_at: challenge.repeats_until };
    if (!(await insertUsedConfirmation(database, use, time.proven()))) return 'assertion-used';
  }
  return usable(challenge, 'confirm', clock());
}

function usable(challenge: Challenge, operation: Challenge['operation'], now: Date): Challenge | Unusable {
  if (challenge.operation !== operation) return 'challenge-of-another-operation';
  return challenge.expires_at <= now ? 'challenge-expired' : challenge;
}
