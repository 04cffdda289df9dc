// Certificates that a test exchanges while connections are open. A counterpart of the folder and of ACME.
import { type Certificate, readCertificate } from '../src/tls/certificate.ts';
import { type CertificateSource, findCertificate } from '../src/tls/certificate-source.ts';
import type { TestPair } from './certificates.ts';

export interface MemoryCertificates extends CertificateSource {
  set(name: string, pair: TestPair): void;
}

export function memoryCertificates(): MemoryCertificates {
  const certificates = new Map<string, Certificate>();
  return {
    set: (name, pair) => void certificates.set(name, readCertificate(name, pair, new Date())),
    current: (host) => findCertificate(certificates, host),
    served: () => [...certificates.values()],
    problems: () => [],
    close: () => Promise.resolve(),
  };
}
