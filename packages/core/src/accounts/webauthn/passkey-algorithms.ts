// The signature algorithms of passkeys, by their numbers in COSE.
export const EDDSA = -8;
export const ES256 = -7;
const RS256 = -257;
/** Offered at registration in this order, and the only ones taken: EdDSA, ES256, RS256 (docs/decisions/passkeys.md). */
export const passkeyAlgorithms: readonly number[] = [EDDSA, ES256, RS256];
