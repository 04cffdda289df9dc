// One certificate with its key, checked before it is served: what a client would refuse is refused here, with a reason for
// the operator.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { faultOf } from '@platform/http';
import { SECURE_CONTEXT } from './protocol.ts';

/** A host, or a wildcard such as `*.example.org`, which stands for exactly one label. Lower case. */
export type CertificateName = string;

export interface Certificate {
  readonly name: CertificateName;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the certificate, for the log. */
  readonly fingerprint: string;
  readonly context: SecureContext;
  /** Whether the certificate names this host; lower case, without port. */
  covers(host: string): boolean;
}

export interface CertificatePair {
  /** The certificate, then those of intermediate authorities, PEM. */
  readonly certificate: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/** Why a pair is not served. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);
/** Milliseconds by which the clock of this machine may be behind that of an authority. */
const CLOCK_SKEW = 5 * 60_000;
/** Any one label: what a wildcard must cover. */
const SOME_LABEL = 'a';
/** Of each certificate. */
const REMEMBERED_HOSTS = 1_024;

export function isCertificateName(name: string): boolean {
  return name.length <= 253 && NAME.test(name);
}

/** The wildcard that would cover a host. */
export function wildcardOf(host: string): CertificateName {
  return `*${host.slice(host.indexOf('.'))}`;
}

/**
 * @param name that the certificate must cover
 * @throws CertificateError
 */
export function readCertificate(name: CertificateName, pair: CertificatePair, now: Date): Certificate {
  const x509 = parseCertificate(pair.certificate);
  const key = parseKey(pair.key);
  if (!x509.checkPrivateKey(key)) throw new CertificateError('the key does not belong to the certificate');
  const covers = remembered(
    (host) => x509.checkHost(host, { subject: 'never', partialWildcards: false }) !== undefined,
  );
  if (!covers(name.replace('*', SOME_LABEL))) throw new CertificateError(`the certificate does not name ${name}`);
  const { validFromDate: notBefore, validToDate: notAfter } = x509;
  if (now > notAfter) throw new CertificateError(`the certificate expired at ${notAfter.toISOString()}`);
  if (now.getTime() + CLOCK_SKEW < notBefore.getTime())
    throw new CertificateError(`the certificate is valid from ${notBefore.toISOString()} on`);
  return {
    name,
    notBefore,
    notAfter,
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    context: contextOf(pair),
    covers,
  };
}

/** Every request asks, and OpenSSL takes a while. Of hosts that it does not name, which may be long, none is kept. */
function remembered(names: (host: string) => boolean): (host: string) => boolean {
  const named = new Set<string>();
  return (host) => {
    if (named.has(host)) return true;
    if (!names(host)) return false;
    if (named.size >= REMEMBERED_HOSTS) named.clear();
    named.add(host);
    return true;
  };
}

function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new CertificateError('the file does not hold a certificate in PEM');
  }
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CertificateError('the file does not hold a private key in PEM without a passphrase');
  }
}

function contextOf({ certificate, key }: CertificatePair): SecureContext {
  try {
    return createSecureContext({ ...SECURE_CONTEXT, cert: certificate, key });
  } catch (error) {
    // Such as a chain that cannot be read, or a key that is too short.
    throw new CertificateError(`OpenSSL refuses the certificate: ${faultOf(error).reason}`);
  }
}
