// The published WebAuthn Level 3 vectors, run through the verification that the routes use.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { prfOutput, sha256 } from '../../../../../tests/support/software-authenticator.ts';
import type { CeremonyFault } from './ceremony-fault.ts';
import { passkeyAlgorithms } from './passkey-algorithms.ts';
import { isEllipticKey, isStrictEcdsaSignature } from './public-key.ts';
import { type AssertionCredential, verifyAssertion } from './verify-assertion.ts';
import { type RegistrationCredential, verifyRegistration } from './verify-registration.ts';

interface Ceremony {
  readonly challenge: string;
  readonly clientDataJSON: string;
}
interface Flags {
  readonly UV: boolean;
  readonly BE: boolean;
  readonly BS: boolean;
}
interface Vector {
  readonly name: string;
  readonly rpId: string;
  readonly origin: string;
  readonly coseAlg: number;
  readonly credentialPublicKeyCose: string;
  readonly registration: Ceremony & { readonly credential_id: string; readonly attestationObject: string };
  readonly registrationClientData: { readonly crossOrigin: boolean };
  readonly registrationFlags: Flags;
  readonly authentication: Ceremony & { readonly authenticatorData: string; readonly signature: string };
  readonly authenticationFlags: Flags;
}

function vectors<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../../../test-vectors/${file}`, import.meta.url), 'utf8'));
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const base64url = (hex: string) => bytes(hex).toString('base64url');
const OWNER = 'acct-018f2f4e-7a4b-7c1d-8e2f-000000000001';

function expectedOf({ origin, rpId }: Vector, { challenge }: Ceremony) {
  return { challenge: bytes(challenge), origin, rpId };
}

function registrationOf({ registration }: Vector): RegistrationCredential {
  const id = base64url(registration.credential_id);
  return {
    id,
    rawId: id,
    type: 'public-key',
    response: {
      clientDataJSON: base64url(registration.clientDataJSON),
      attestationObject: base64url(registration.attestationObject),
    },
    clientExtensionResults: {},
  };
}

function assertionOf({ registration, authentication }: Vector): AssertionCredential {
  const id = base64url(registration.credential_id);
  return {
    id,
    rawId: id,
    type: 'public-key',
    response: {
      clientDataJSON: base64url(authentication.clientDataJSON),
      authenticatorData: base64url(authentication.authenticatorData),
      signature: base64url(authentication.signature),
      userHandle: Buffer.from(OWNER).toString('base64url'),
    },
    clientExtensionResults: {},
  };
}

/** What the platform's own policy says about a valid ceremony, in the order in which it is asked. */
function policyFault(vector: Vector, flags: Flags, ceremony: 'create' | 'get'): CeremonyFault | null {
  if (vector.registrationClientData.crossOrigin) return 'cross-origin';
  if (!flags.UV) return 'user-not-verified';
  return ceremony === 'create' && !passkeyAlgorithms.includes(vector.coseAlg) ? 'algorithm-not-offered' : null;
}

function storedOf(vector: Vector) {
  return {
    id: base64url(vector.registration.credential_id),
    accountKey: OWNER,
    publicKey: bytes(vector.credentialPublicKeyCose),
    counter: 0,
    backupEligible: vector.registrationFlags.BE,
  };
}

const { cases } = vectors<{ cases: Vector[] }>('webauthn-l3.json');

describe('the vectors of WebAuthn Level 3', () => {
  for (const vector of cases) {
    const refusedAtCreation = policyFault(vector, vector.registrationFlags, 'create');
    test(`${vector.name} registers${refusedAtCreation === null ? '' : `, but for ${refusedAtCreation}`}`, async () => {
      const outcome = await verifyRegistration(expectedOf(vector, vector.registration), registrationOf(vector));
      if (refusedAtCreation !== null) {
        assert.deepEqual(outcome, { ok: false, fault: refusedAtCreation });
        return;
      }
      assert.ok(outcome.ok, JSON.stringify(outcome));
      assert.equal(outcome.passkey.publicKey.toString('hex'), vector.credentialPublicKeyCose);
      assert.equal(outcome.passkey.backupEligible, vector.registrationFlags.BE);
      assert.equal(outcome.passkey.backedUp, vector.registrationFlags.BS);
    });

    const refusedAtRequest = policyFault(vector, vector.authenticationFlags, 'get');
    // The library has no Ed448; such a key is refused at registration and never stored.
    if (vector.coseAlg === -53) continue;
    test(`${vector.name} signs in${refusedAtRequest === null ? '' : `, but for ${refusedAtRequest}`}`, async () => {
      const expected = expectedOf(vector, vector.authentication);
      const outcome = await verifyAssertion(expected, storedOf(vector), assertionOf(vector));
      if (refusedAtRequest === null) {
        assert.deepEqual(outcome, { ok: true, counter: 0, backedUp: vector.authenticationFlags.BS });
      } else {
        assert.deepEqual(outcome, { ok: false, fault: refusedAtRequest });
        await provesNothingElseIsWrong(vector);
      }
    });

    test(`${vector.name} signs in to no other account`, async () => {
      const stored = { ...storedOf(vector), accountKey: OWNER.replace('1', '2') };
      const outcome = await verifyAssertion(expectedOf(vector, vector.authentication), stored, assertionOf(vector));
      assert.equal(outcome.ok, false);
    });
  }
});

/** With the policy left out, the vector verifies: what the platform refused was the policy and not the signature. */
async function provesNothingElseIsWrong(vector: Vector): Promise<void> {
  const response = assertionOf(vector);
  const { verified } = await verifyAuthenticationResponse({
    response: {
      ...response,
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response: { ...response.response, userHandle: '' },
    },
    expectedChallenge: base64url(vector.authentication.challenge),
    expectedOrigin: vector.origin,
    expectedTopOrigin: 'https://example.com',
    expectedRPID: vector.rpId,
    requireUserVerification: false,
    credential: { id: response.id, publicKey: new Uint8Array(bytes(vector.credentialPublicKeyCose)), counter: 0 },
  });
  assert.equal(verified, true);
  const signature = bytes(vector.authentication.signature);
  const elliptic = isEllipticKey(bytes(vector.credentialPublicKeyCose));
  assert.ok(!elliptic || isStrictEcdsaSignature(signature), 'a valid signature is in strict DER');
}

interface PrfVector {
  readonly name: string;
  readonly prf_eval_first: string;
  readonly prf_eval_second?: string;
  readonly salt1: string;
  readonly prf_results_first: string;
  readonly prf_results_second?: string;
}

describe('the PRF vectors of WebAuthn Level 3', () => {
  const prf = vectors<{ cases: PrfVector[]; shared: { authenticator_cred_random: string } }>('webauthn-prf.json');
  for (const vector of prf.cases) {
    test(`the test authenticator computes ${vector.name} as an authenticator does`, () => {
      const random = bytes(prf.shared.authenticator_cred_random);
      const salt = sha256(Buffer.concat([Buffer.from('WebAuthn PRF\0'), bytes(vector.prf_eval_first)]));
      assert.equal(salt.toString('hex'), vector.salt1);
      assert.equal(prfOutput(random, bytes(vector.prf_eval_first)).toString('hex'), vector.prf_results_first);
      if (vector.prf_eval_second === undefined) return;
      assert.equal(prfOutput(random, bytes(vector.prf_eval_second)).toString('hex'), vector.prf_results_second);
    });
  }
});
