// Certificates of a test's own authority, made on the spot: valid ones, expired ones, ones that do not fit their key.
// First: the library demands it when it is loaded.
import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as x509 from '@peculiar/x509';

export interface TestPair {
  readonly certificate: string;
  readonly key: string;
}

export interface TestAuthority {
  /** PEM, for clients that should trust it. */
  readonly ca: string;
  issue(names: readonly string[], validity?: TestValidity): Promise<TestPair>;
}

/** Milliseconds from now. Default: from a day ago to a day ahead. */
export interface TestValidity {
  readonly from?: number;
  readonly to?: number;
}

const DAY = 86_400_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

export async function newAuthority(): Promise<TestAuthority> {
  const keys = await newKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=authority of a test',
      notBefore: new Date(Date.now() - 400 * DAY),
      notAfter: new Date(Date.now() + 400 * DAY),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
    },
    crypto,
  );
  return {
    ca: root.toString('pem'),
    async issue(names, { from = -DAY, to = DAY } = {}) {
      const own = await newKeys();
      const certificate = await x509.X509CertificateGenerator.create(
        {
          subject: 'CN=throw-away certificate of a test',
          issuer: root.subject,
          notBefore: new Date(Date.now() + from),
          notAfter: new Date(Date.now() + to),
          signingAlgorithm: ALGORITHM,
          publicKey: own.publicKey,
          signingKey: keys.privateKey,
          extensions: [
            new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
          ],
        },
        crypto,
      );
      const pkcs8 = await crypto.subtle.exportKey('pkcs8', own.privateKey);
      return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') };
    },
  };
}

/** Writes `<stem>.crt` and `<stem>.key`. */
export async function writePair(folder: string, stem: string, { certificate, key }: TestPair): Promise<void> {
  await writeFile(path.join(folder, `${stem}.crt`), certificate);
  await writeFile(path.join(folder, `${stem}.key`), key, { mode: 0o600 });
}
