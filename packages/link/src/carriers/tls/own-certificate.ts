// The certificate with which a part proves its own key in TLS, on either side of a link.

import type { LinkKey } from '../../key.ts';
import type { LinkCertificate } from './certificate.ts';

/** Loads what makes certificates only now: most machines are alone and never need one. */
export async function linkCertificate(key: LinkKey): Promise<LinkCertificate> {
  const { certificateOf } = await import('./certificate.ts');
  return certificateOf(key);
}
