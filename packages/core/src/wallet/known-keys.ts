// Public keys of passkeys, as exports name them and as somebody kept them elsewhere.
import * as z from 'zod';

/** A public key, whose it is and of which passkey. */
export interface KnownKey {
  /** An address; left out where the file is of one account. */
  readonly account?: string;
  readonly credentialId: string;
  /** COSE, base64url. */
  readonly publicKey: string;
}

const key = z.object({ account: z.string().optional(), credentialId: z.string(), publicKey: z.string() });

/** An export of a wallet, or `passkeys.json` of the export of an account. */
const keysFile = z.union([z.object({ keys: z.array(key) }), z.object({ items: z.array(key) })]);

/** @param given what a file holds, parsed. @returns `null` for a file of something else */
export function readKeys(given: unknown): KnownKey[] | null {
  const { data } = keysFile.safeParse(given);
  if (data === undefined) return null;
  return ('keys' in data ? data.keys : data.items).map(({ account, ...more }) =>
    account === undefined ? more : { account, ...more },
  );
}

/** By address and credential; of two for the same the first. */
export function keysByPasskey(keys: readonly Required<KnownKey>[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const all = new Map<string, Map<string, string>>();
  for (const { account, credentialId, publicKey } of keys) {
    const own = all.get(account) ?? new Map<string, string>();
    all.set(account, own);
    if (!own.has(credentialId)) own.set(credentialId, publicKey);
  }
  return all;
}
