// The two verifications of passkeys, loaded with the first passkey that is verified: their library, with all the formats
// of attestation that nobody here asks for, is a fifth of what core would load at its start.
import type { verifyAssertion as Assertion } from './verify-assertion.ts';
import type { verifyRegistration as Registration } from './verify-registration.ts';

export const verifyAssertion: typeof Assertion = async (...given) =>
  (await import('./verify-assertion.ts')).verifyAssertion(...given);

export const verifyRegistration: typeof Registration = async (...given) =>
  (await import('./verify-registration.ts')).verifyRegistration(...given);
