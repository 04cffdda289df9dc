// Passkey ceremonies: options by the browser's own JSON functions (WebAuthn Level 3, section 5.1.10), and what each way of
// failing means to the person who tried.
import type { CeremonyOptions } from '@platform/contract';
import { PlainError } from '../api/api-error.ts';
import { assertionJson, extensionOutputs, isCredential, registrationJson } from './credential-json.ts';
import { holdPrf } from './prf.ts';
import { publicAssertion, publicRegistration } from './public-credential.ts';

/** A ceremony failed; the message says what the person can do. */
export class PasskeyError extends PlainError {
  /** The person closed the browser's dialog or let it time out: worth a hint, not an alarm. */
  readonly cancelled: boolean;
  constructor(message: string, cancelled = false) {
    super(message);
    this.name = 'PasskeyError';
    this.cancelled = cancelled;
  }
}

/** Why passkeys cannot work in this page at all, or `null`. */
export function passkeyObstacle(): string | null {
  if (!window.isSecureContext) {
    return 'Passkeys need a secure address. Open the platform over https, or at its local address on this machine.';
  }
  if (typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON !== 'function') {
    return 'This browser cannot use passkeys here. Use a current version of Chrome, Edge, Firefox or Safari.';
  }
  return null;
}

/** The address at which passkeys of this relying party work, as far as this page knows. */
function properAddress(rpId: string): string {
  return `${location.protocol}//${rpId}${location.port === '' ? '' : `:${location.port}`}`;
}

function belongsHere(rpId: string): boolean {
  return location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);
}

function explain(error: unknown, rpId: string, creating: boolean): PasskeyError {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'AbortError') {
    return new PasskeyError(
      creating
        ? 'No passkey was created: the request was cancelled or timed out. Try again.'
        : 'No passkey was used: the request was cancelled or timed out. Try again.',
      true,
    );
  }
  if (name === 'InvalidStateError') {
    return new PasskeyError(
      'This device already holds a passkey for this account. Use another device or security key.',
    );
  }
  if (name === 'SecurityError') {
    return new PasskeyError(`Passkeys do not work at this address. Open ${properAddress(rpId)} instead.`);
  }
  if (name === 'NotSupportedError' || name === 'ConstraintError') {
    return new PasskeyError(
      'This device can’t create the required kind of passkey: discoverable, and unlocked by fingerprint, face or PIN.',
    );
  }
  return new PasskeyError('The passkey could not be used. Try again, or use another device.');
}

function requireHere(rpId: string): void {
  const obstacle = passkeyObstacle();
  if (obstacle !== null) throw new PasskeyError(obstacle);
  if (!belongsHere(rpId)) {
    throw new PasskeyError(`Passkeys do not work at this address. Open ${properAddress(rpId)} instead.`);
  }
}

/**
 * Asks the browser for a new passkey.
 * @throws PasskeyError
 */
export async function createPasskey({ challengeId, publicKey }: CeremonyOptions) {
  // Core made these options for exactly this call; the browser checks their members again.
  const json = publicKey as unknown as PublicKeyCredentialCreationOptionsJSON;
  const rpId = json.rp.id ?? location.hostname;
  requireHere(rpId);
  try {
    const options = PublicKeyCredential.parseCreationOptionsFromJSON(json);
    const credential = await navigator.credentials.create({ publicKey: options });
    if (!isCredential(credential)) throw new PasskeyError('The browser returned no passkey. Try again.');
    const made = registrationJson(credential);
    holdPrf(extensionOutputs(credential), made.id);
    return { challengeId, credential: publicRegistration(made) };
  } catch (error) {
    throw error instanceof PasskeyError ? error : explain(error, rpId, true);
  }
}

/**
 * Asks the browser for a passkey of this platform: any one, where `options` list none; which account it is, the passkey
 * says.
 * @throws PasskeyError
 */
export async function askForPasskey({ challengeId, publicKey }: CeremonyOptions) {
  const json = publicKey as unknown as PublicKeyCredentialRequestOptionsJSON;
  const rpId = json.rpId ?? location.hostname;
  requireHere(rpId);
  try {
    const options = PublicKeyCredential.parseRequestOptionsFromJSON(json);
    const credential = await navigator.credentials.get({ publicKey: options });
    if (!isCredential(credential)) throw new PasskeyError('The browser returned no passkey. Try again.');
    const used = assertionJson(credential);
    holdPrf(extensionOutputs(credential), used.id);
    return { challengeId, credential: publicAssertion(used) };
  } catch (error) {
    throw error instanceof PasskeyError ? error : explain(error, rpId, false);
  }
}
