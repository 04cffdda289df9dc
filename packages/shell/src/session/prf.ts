// The PRF result of the sign-in: held in this page's memory only, never stored, never sent, gone at sign-out.

interface HeldPrf {
  /** Result for the RP-scoped salt. */
  readonly first: Uint8Array;
  /** Result for the older salt, where core asked for it, so that old bundles can be wrapped anew. */
  readonly second: Uint8Array | null;
}

let held: HeldPrf | null = null;

function bytesOf(source: BufferSource): Uint8Array {
  const view = ArrayBuffer.isView(source);
  const bytes = view ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);
  return bytes.slice();
}

/** Takes the result out of a credential's extension outputs, if the authenticator gave one. */
export function holdPrf(outputs: AuthenticationExtensionsClientOutputs): void {
  const results = outputs.prf?.results;
  if (results === undefined) return;
  dropPrf();
  held = { first: bytesOf(results.first), second: results.second === undefined ? null : bytesOf(results.second) };
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
