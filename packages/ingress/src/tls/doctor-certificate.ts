// The certificate that the Ingress shows under the doctor's names where no other is for them: that of its own key, by which
// the doctor knows it. So the doctor gets through while certificates for apps are missing, which is when it is needed.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { LinkCertificate } from '@platform/link';
import type { Certificate } from './certificate.ts';
import type { CertificateSource } from './certificate-source.ts';
import { SECURE_CONTEXT } from './protocol.ts';

export interface DoctorCertificate {
  /** Of the key of this Ingress. */
  readonly pair: LinkCertificate;
  /** Whether a host is one of the doctor's now. */
  covers(host: string): boolean;
}

export function withDoctor(
  source: CertificateSource,
  { pair, covers }: DoctorCertificate,
): Pick<CertificateSource, 'current' | 'obtain'> {
  const { validFromDate, validToDate, fingerprint256 } = new X509Certificate(pair.cert);
  const own: Certificate = {
    name: 'platform doctor',
    notBefore: validFromDate,
    notAfter: validToDate,
    fingerprint: fingerprint256,
    context: createSecureContext({ ...SECURE_CONTEXT, ...pair }),
    covers,
  };
  return {
    current: (host) => source.current(host) ?? (covers(host) ? own : null),
    ...(source.obtain === undefined
      ? {}
      : { obtain: (host: string) => source.obtain?.(host) ?? Promise.resolve(null) }),
  };
}
