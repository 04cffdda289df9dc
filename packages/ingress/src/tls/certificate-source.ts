// Where certificates come from, and what an operator must know of them.
import { type Certificate, type CertificateName, wildcardOf } from './certificate.ts';

/** Certificates by name, current at any moment. */
export interface CertificateSource {
  /** The certificate for a host, lower case; of its own name, else of a wildcard. `null` for none. */
  current(host: string): Certificate | null;
  /** Obtains one for a host that has none, where that is possible: a client waits in its handshake. */
  obtain?(host: string): Promise<Certificate | null>;
  /** What is served, for the metrics. */
  served(): readonly Certificate[];
  /** What an operator should look at, until it is solved. */
  problems(): readonly CertificateProblem[];
  close(): Promise<void>;
}

/** What a problem is about, for what `platform doctor` says to do. */
export const problemKinds = [
  /** The folder of certificates cannot be read. */
  'unreadable',
  /** What is ordered cannot be kept. */
  'unwritable',
  /** A file is named after no host. */
  'file_name',
  /** A pair of files is no good. */
  'pair',
  /** A certificate in service is about to expire, or has. */
  'expiry',
  /** The authority does not answer as one. */
  'unreachable',
  /** The authority could not check that the name is ours. */
  'challenge',
  /** The DNS hook failed. */
  'hook',
  /** As many orders as may be began lately. */
  'rate_limit',
  /** The order failed for another reason. */
  'order',
] as const;
export type ProblemKind = (typeof problemKinds)[number];

export interface CertificateProblem {
  /** Of the certificate; of the file or folder, for the first three kinds. */
  readonly name: CertificateName;
  readonly kind: ProblemKind;
  /** A sentence without its full stop, e.g. `the key does not belong to the certificate`. Never holds a key. */
  readonly what: string;
  /** When it is ordered again. Default: nothing is ordered; files are looked at every ten seconds. */
  readonly retryAt?: Date;
}

/** Told once for each change. */
export interface CertificateEvents {
  /** A certificate is served from now on. */
  onServed(certificate: Certificate): void;
  /** Clients get the former certificate, or none. */
  onProblem(problem: CertificateProblem): void;
  onSolved(name: CertificateName): void;
}

/** Its own name wins over a wildcard. */
export function findCertificate(
  certificates: ReadonlyMap<CertificateName, Certificate>,
  host: string,
): Certificate | null {
  return certificates.get(host) ?? certificates.get(wildcardOf(host)) ?? null;
}

/**
 * What is wrong with a certificate that is served: it has less than an eighth of its life left, and its renewal should
 * have come long before. `null` for nothing.
 */
export function expiryProblem({ name, notBefore, notAfter }: Certificate, now: Date): CertificateProblem | null {
  const left = notAfter.getTime() - now.getTime();
  if (left >= (notAfter.getTime() - notBefore.getTime()) / 8) return null;
  const when = notAfter.toISOString();
  return {
    name,
    kind: 'expiry',
    what: left <= 0 ? `the certificate expired at ${when}` : `the certificate expires at ${when}`,
  };
}

/** The problems that the log has named. */
export class ReportedProblems {
  readonly #events: CertificateEvents;
  readonly #known = new Map<CertificateName, CertificateProblem>();

  constructor(events: CertificateEvents) {
    this.#events = events;
  }

  /** Reports a problem that is new or has changed, or that there is none any more. */
  set(name: CertificateName, problem: CertificateProblem | null): void {
    const former = this.#known.get(name);
    if (problem === null) {
      if (this.#known.delete(name)) this.#events.onSolved(name);
    } else {
      this.#known.set(name, problem);
      if (former?.what !== problem.what) this.#events.onProblem(problem);
    }
  }

  all(): readonly CertificateProblem[] {
    return [...this.#known.values()];
  }
}

/** Of a system call that failed. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
