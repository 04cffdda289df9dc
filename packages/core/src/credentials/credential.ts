// Bearer credentials: 256 random bits behind a typed prefix, known to the database by their SHA-256 only (contract 3).
import { hash, timingSafeEqual } from 'node:crypto';
import { type CredentialKind, credentialPrefixes } from '@platform/contract';

const PATTERN = /^p[a-z]{2}_[A-Za-z0-9_-]{43}$/;

export function newCredential(kind: CredentialKind, random: (bytes: number) => Buffer): string {
  return credentialPrefixes[kind] + random(32).toString('base64url');
}

/** What the database holds. */
export function hashCredential(credential: string): Buffer {
  return hash('sha256', credential, 'buffer');
}

/** The kind a presented credential claims, or `null` when it does not have the shape of a platform credential. */
export function credentialKind(presented: string): CredentialKind | null {
  if (!PATTERN.test(presented)) return null;
  for (const [kind, prefix] of Object.entries(credentialPrefixes)) {
    if (presented.startsWith(prefix)) return kind as CredentialKind;
  }
  return null;
}

export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hashCredential(a), hashCredential(b));
}
