// Verifies a new passkey (WebAuthn Level 3, section 7.1): the library's steps, and those it leaves to its caller.
import { createHash } from 'node:crypto';
import type { RouteBody } from '@platform/contract';
import { type RegistrationResponseJSON, verifyRegistrationResponse } from '@simplewebauthn/server';
import { isoCBOR, verifySignature } from '@simplewebauthn/server/helpers';
import { checkAuthenticatorData } from './authenticator-data.ts';
import type { CeremonyFault } from './ceremony-fault.ts';
import { base64urlBytes, checkClientData } from './client-data.ts';
import { passkeyAlgorithms } from './passkey-algorithms.ts';
import { algorithmOf, checkPublicKey } from './public-key.ts';

export type RegistrationCredential = RouteBody<'auth.register.verify'>['credential'];

export interface ExpectedCeremony {
  readonly challenge: Buffer;
  readonly origin: string;
  readonly rpId: string;
}

/** Public material only. */
export interface NewPasskey {
  /** Credential id, base64url. */
  readonly id: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

export type RegistrationOutcome =
  | { readonly ok: true; readonly passkey: NewPasskey }
  | { readonly ok: false; readonly fault: CeremonyFault };

/** WebAuthn Level 3, section 7.1, step 25. */
const LONGEST_ID = 1023;
const TRANSPORTS = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

export async function verifyRegistration(
  expected: ExpectedCeremony,
  credential: RegistrationCredential,
): Promise<RegistrationOutcome> {
  const { id, rawId, response } = credential;
  const idBytes = base64urlBytes(id);
  if (idBytes === null || idBytes.length === 0 || idBytes.length > LONGEST_ID) return failed('credential-id-malformed');
  if (rawId !== id) return failed('credential-id-differs');
  const { challenge, origin, rpId } = expected;
  const clientFault = checkClientData(response.clientDataJSON, { type: 'webauthn.create', challenge, origin });
  if (clientFault !== null) return failed(clientFault);
  const attestation = readAttestation(response.attestationObject);
  if (attestation === null) return failed('attestation-malformed');
  const state = checkAuthenticatorData(attestation.authData, rpId);
  if (typeof state === 'string') return failed(state);
  const verified = await verifyByLibrary(expected, credential, attestation.object);
  if (typeof verified === 'string') return failed(verified);
  if (verified.id !== id) return failed('credential-id-differs');
  const keyFault = checkPublicKey(verified.publicKey);
  if (keyFault !== null) return failed(keyFault);
  const selfFault = await checkSelfAttestation(attestation, verified.publicKey, response.clientDataJSON);
  if (selfFault !== null) return failed(selfFault);
  const transports = [...new Set(response.transports)].filter((transport) => TRANSPORTS.has(transport));
  return { ok: true, passkey: { id, publicKey: Buffer.from(verified.publicKey), transports, ...state } };
}

function failed(fault: CeremonyFault): { ok: false; fault: CeremonyFault } {
  return { ok: false, fault };
}

type CborValue = Parameters<typeof isoCBOR.encode>[0];

interface Attestation {
  readonly authData: Uint8Array;
  /** The object for the library, base64url, with the statement `none`. */
  readonly object: string;
  /** Of a self attestation: what it says that it was signed with, and the signature. */
  readonly self?: { readonly algorithm: unknown; readonly signature: unknown };
}

/**
 * Decodes the attestation object and takes the statement out of it. Browsers may send self attestation
 * unrequested, which is verified here; certificates and other formats are never parsed, as the platform has no trust anchors
 * for them (docs/decisions/passkeys.md).
 */
function readAttestation(text: string): Attestation | null {
  const bytes = base64urlBytes(text);
  if (bytes === null) return null;
  const object = decode(bytes);
  if (!(object instanceof Map)) return null;
  const [format, statement, authData] = [object.get('fmt'), object.get('attStmt'), object.get('authData')];
  if (typeof format !== 'string' || !(statement instanceof Map) || !(authData instanceof Uint8Array)) return null;
  const certificates: unknown = statement.get('x5c');
  if (format === 'packed' && certificates !== undefined && !isCertificateList(certificates)) return null;
  if (format === 'none') return { authData, object: text };
  const bare = new Map<string, CborValue>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  const read = { authData, object: Buffer.from(isoCBOR.encode(bare)).toString('base64url') };
  if (format !== 'packed' || certificates !== undefined) return read;
  return { ...read, self: { algorithm: statement.get('alg'), signature: statement.get('sig') } };
}

/** Section 8.2: by the new key itself, of its own algorithm. */
async function checkSelfAttestation(
  { authData, self }: Attestation,
  publicKey: Uint8Array,
  clientDataJSON: string,
): Promise<CeremonyFault | null> {
  if (self === undefined) return null;
  if (!(self.signature instanceof Uint8Array)) return 'attestation-malformed';
  if (self.algorithm !== algorithmOf(publicKey)) return 'attestation-wrong';
  const hash = createHash('sha256').update(clientDataJSON, 'base64url').digest();
  try {
    const isSigned = await verifySignature({
      signature: new Uint8Array(self.signature),
      data: new Uint8Array(Buffer.concat([authData, hash])),
      credentialPublicKey: new Uint8Array(publicKey),
    });
    return isSigned ? null : 'attestation-wrong';
  } catch {
    return 'attestation-malformed';
  }
}

function isCertificateList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => item instanceof Uint8Array);
}

function decode(bytes: Buffer): unknown {
  try {
    const value: unknown = isoCBOR.decodeFirst(new Uint8Array(bytes));
    // The decoder stops after the first item: whatever follows, or another spelling of it, is not ours to ignore.
    return Buffer.from(isoCBOR.encode(value as CborValue)).equals(bytes) ? value : null;
  } catch {
    return null;
  }
}

async function verifyByLibrary(
  { challenge, origin, rpId }: ExpectedCeremony,
  credential: RegistrationCredential,
  attestationObject: string,
): Promise<CeremonyFault | { id: string; publicKey: Uint8Array }> {
  // Without a statement nothing of the client data is signed; it was checked, and the library judges members that it need not.
  const known = { type: 'webauthn.create', challenge: challenge.toString('base64url'), origin };
  const clientDataJSON = Buffer.from(JSON.stringify(known)).toString('base64url');
  const response: RegistrationResponseJSON = {
    id: credential.id,
    rawId: credential.rawId,
    type: credential.type,
    response: { clientDataJSON, attestationObject },
    clientExtensionResults: {},
  };
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserPresence: true,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...passkeyAlgorithms],
    });
    return verified ? registrationInfo.credential : 'attestation-wrong';
  } catch (error) {
    return faultOf(error);
  }
}

/** The library refuses by throwing; its texts quote what the client sent, so none of them is passed on. */
function faultOf(error: unknown): CeremonyFault {
  const message = error instanceof Error ? error.message : '';
  if (message.startsWith('Unexpected public key alg')) return 'algorithm-not-offered';
  return 'attestation-malformed';
}
