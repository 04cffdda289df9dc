// What makes two assertions the same one, however they are written.
import { createHash } from 'node:crypto';
import { ecdsaCommitment } from './public-key.ts';
import type { AssertionCredential } from './verify-assertion.ts';

/** SHA-256 over the passkey, what it signed, and the signature. */
export function assertionIdentity({ id, response }: AssertionCredential): Buffer {
  const signature = Buffer.from(response.signature, 'base64url');
  const parts = [
    Buffer.from(id),
    Buffer.from(response.authenticatorData, 'base64url'),
    Buffer.from(response.clientDataJSON, 'base64url'),
    // Of an ECDSA signature (r, s), (r, -s) holds as well.
    ecdsaCommitment(signature) ?? signature,
  ];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(createHash('sha256').update(part).digest());
  return hash.digest();
}
