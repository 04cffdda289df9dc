// What the passkey of the last ceremony said about PRF: held in this page's memory only, until the recipient of the account takes it;
// never stored, never sent, gone at sign-out.

import { bytesFrom } from './credential-json.ts';

export interface HeldPrf {
  readonly credentialId: string;
  /** Whether the passkey has PRF at all: some give no result when they are created. */
  readonly hasPrf: boolean;
  /** Result for the RP-scoped salt. */
  readonly first: Uint8Array | null;
  /** Result for the older salt, where core asked for it, so that old bundles can be wrapped anew. */
  readonly second: Uint8Array | null;
}

let held: HeldPrf | null = null;

/** Takes the result out of a credential's extension outputs, if the authenticator gave one. */
export function holdPrf({ prf }: AuthenticationExtensionsClientOutputs, credentialId: string): void {
  const first = bytesFrom(prf?.results?.first);
  const isGiven = first !== null && first.length > 0;
  dropPrf();
  held = {
    credentialId,
    hasPrf: isGiven || prf?.enabled === true,
    first: isGiven ? first : null,
    second: isGiven ? bytesFrom(prf?.results?.second) : null,
  };
}

/** Whether there was a ceremony since, whatever its passkey gave. */
export function holdsPrf(): boolean {
  return held !== null;
}

/** Who takes it overwrites it with `wipePrf` after its use. */
export function takePrf(): HeldPrf | null {
  const taken = held;
  held = null;
  return taken;
}

export function wipePrf(prf: HeldPrf | null): void {
  prf?.first?.fill(0);
  prf?.second?.fill(0);
}

/** Overwrites and forgets the result. */
export function dropPrf(): void {
  wipePrf(takePrf());
}
