// The self-signed X.509 certificate in which TLS carries a key. Peers verify the key only, so names and
// dates in it mean nothing; it is made anew at every start.
// The library below takes its parts together with it.
import 'reflect-metadata';
import { X509CertificateGenerator } from '@peculiar/x509';
import type { LinkKey } from '../../key.ts';

export interface LinkCertificate {
  /** PEM, as `node:tls` takes them. */
  readonly cert: string;
  readonly key: string;
}

const ALGORITHM = { name: 'Ed25519' };

/** A self-signed certificate of the key, without an end: peers compare keys and nothing else. */
export async function certificateOf({ privateKey, publicKey }: LinkKey): Promise<LinkCertificate> {
  const { subtle } = globalThis.crypto;
  const pkcs8 = new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }));
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=platform link',
    notBefore: new Date('2000-01-01T00:00:00Z'),
    // "No well-defined expiration" (RFC 5280, section 4.1.2.5).
    notAfter: new Date('9999-12-31T23:59:59Z'),
    signingAlgorithm: ALGORITHM,
    keys: {
      privateKey: await subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']),
      publicKey: await subtle.importKey('raw', new Uint8Array(publicKey), ALGORITHM, true, ['verify']),
    },
  });
  return {
    cert: certificate.toString('pem'),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}
