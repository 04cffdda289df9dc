// The PRF result of the sign-in: held in this page's memory only, never stored, never sent, gone at sign-out.

import { bytesFrom } from './credential-json.ts';

interface HeldPrf {
  /** Result for the RP-scoped salt. */
  readonly first: Uint8Array;
  /** Result for the older salt, where core asked for it, so that old bundles can be wrapped anew. */
  readonly second: Uint8Array | null;
}

let held: HeldPrf | null = null;

/** Takes the result out of a credential's extension outputs, if the authenticator gave one. */
export function holdPrf(outputs: AuthenticationExtensionsClientOutputs): void {
  const results = outputs.prf?.results;
  const first = bytesFrom(results?.first);
  if (first === null || first.length === 0) return;
  dropPrf();
  held = { first, second: bytesFrom(results?.second) };
}

export function holdsPrf(): boolean {
  return held !== null;
}

/** Overwrites and forgets the result. */
export function dropPrf(): void {
  held?.first.fill(0);
  held?.second?.fill(0);
  held = null;
}
