// Verifies a new passkey (WebAuthn Level 3, section 7.1): the library's steps, and those it leaves to its caller.
import type { RouteBody } from '@platform/contract';
import { type RegistrationResponseJSON, verifyRegistrationResponse } from '@simplewebauthn/server';
import { isoCBOR } from '@simplewebauthn/server/helpers';
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
  if (attestation.selfAlgorithm !== undefined && attestation.selfAlgorithm !== algorithmOf(verified.publicKey))
    return failed('attestation-wrong');
  const transports = [...new Set(response.transports)].filter((transport) => TRANSPORTS.has(transport));
  return { ok: true, passkey: { id, publicKey: Buffer.from(verified.publicKey), transports, ...state } };
}

function failed(fault: CeremonyFault): { ok: false; fault: CeremonyFault } {
  return { ok: false, fault };
}

type CborValue = Parameters<typeof isoCBOR.encode>[0];

interface Attestation {
  readonly authData: Uint8Array;
  /** The object to evaluate, base64url. */
  readonly object: string;
  /** What a self attestation says that it was signed with; the key must be of that algorithm (section 8.2). */
  readonly selfAlgorithm?: unknown;
}

/**
 * Decodes the attestation object and drops statements that were not requested. Browsers may send self attestation
 * unrequested, which is verified; certificates and other formats are never parsed, as the platform has no trust anchors
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
  if (format === 'packed' && certificates === undefined)
    return { authData, object: text, selfAlgorithm: statement.get('alg') ?? null };
  const bare = new Map<string, CborValue>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return { authData, object: Buffer.from(isoCBOR.encode(bare)).toString('base64url') };
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
  const response: RegistrationResponseJSON = {
    id: credential.id,
    rawId: credential.rawId,
    type: credential.type,
    response: { clientDataJSON: credential.response.clientDataJSON, attestationObject },
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
