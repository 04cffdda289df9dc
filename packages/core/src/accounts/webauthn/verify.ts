// Loads the two passkey verifications on first use: their library, with attestation formats that the platform does not
// use, would be a fifth of the code that core loads at its start.
import type { verifyAssertion as Assertion } from './verify-assertion.ts';
import type { verifyRegistration as Registration } from './verify-registration.ts';

/** Whether a passkey signed the challenge (WebAuthn Level 3, section 7.2). */
export const verifyAssertion: typeof Assertion = async (...given) =>
  (await import('./verify-assertion.ts')).verifyAssertion(...given);

export const verifyRegistration: typeof Registration = async (...given) =>
  (await import('./verify-registration.ts')).verifyRegistration(...given);
