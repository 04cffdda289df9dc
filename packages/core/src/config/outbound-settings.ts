// Outbound calls with a secret: which origins may lie in the operator's own network, and whose certificates count there.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sizeText } from '@platform/contract/sizes';
import { reasonOf } from './start-error.ts';
import { optionalPathOf, originsOf, type Read, wrong } from './variables.ts';

export interface OutboundSettings {
  readonly outbound: {
    /** Origins that secret slots may reach whatever their address is. */
    readonly privateOrigins: readonly string[];
    /** Certificate authorities, PEM, besides those of the system; `null` for no others. */
    readonly ca: string | null;
  };
}

const FILE = 'PLATFORM_OUTBOUND_CA_FILE';
/** It travels to every Gateway. */
const LARGEST_FILE = 256 * 1024;

export function readOutboundSettings(read: Read): OutboundSettings {
  return {
    outbound: {
      privateOrigins: originsOf(read, 'PLATFORM_OUTBOUND_PRIVATE_ORIGINS', 'https://git.example.lan:8443'),
      ca: readAuthorities(optionalPathOf(read, FILE)),
    },
  };
}

function readAuthorities(file: string | null): string | null {
  if (file === null) return null;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(FILE, `names ${file}, which cannot be read: ${reasonOf(error)}`, 'name a file of certificates in PEM');
  }
  if (text.length > LARGEST_FILE)
    throw wrong(FILE, `names ${file}, which is larger than ${sizeText(LARGEST_FILE)}`, 'name the own ones only');
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw wrong(FILE, `names ${file}, which does not hold certificates`, 'name a file of certificates in PEM');
  // Nothing else of the file: a private key that stands beside them stays where it is.
  return certificates.join('\n');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
