// The public side of an Ingress that ends TLS itself: where its certificates come from, the port of https, and the plain
// one beside it.
import type { StrictServerOptions } from '@platform/http';
import type { Log } from '../log.ts';
import type { CertificateState } from '../metrics-port.ts';
import type { AcmeCertificates } from './acme/acme-certificates.ts';
import { openCertificateFolder } from './certificate-folder.ts';
import type { CertificateEvents, CertificateSource } from './certificate-source.ts';
import { type DoctorCertificate, withDoctor } from './doctor-certificate.ts';
import { openTlsFront } from './front.ts';
import { listenPlainBesideTls } from './plain-listener.ts';

/** Certificates that the operator, or a program of theirs, puts into a folder. */
export interface FileCertificates {
  readonly kind: 'files';
  readonly folder: string;
}

/** Certificates that are ordered. */
export interface OrderedCertificates {
  readonly kind: 'acme';
  /** URL of the ACME directory. */
  readonly directory: string;
  readonly email: string;
  /** Executable that makes records in DNS, for one wildcard certificate; `null` for one certificate for each name. */
  readonly dnsHook: string | null;
  /** PEM of authorities besides the usual ones, for the authority's own certificate; `null` for none. */
  readonly ca: string | null;
  /** Folder of this Ingress. */
  readonly folder: string;
}

export interface PublicTls {
  /** The domain of public names: what a wildcard is ordered for. */
  readonly domain: string;
  readonly certificates: FileCertificates | OrderedCertificates;
  /** Where plain HTTP is answered beside https; `null` for nowhere. */
  readonly plain: { readonly host: string; readonly port: number } | null;
  /** The port of https as clients reach it, to which plain HTTP redirects. Default: the one that it listens on. */
  readonly publicPort?: number;
}

export interface PublicSideOptions {
  readonly tls: PublicTls;
  readonly listen: { readonly host: string; readonly port: number };
  readonly server: StrictServerOptions;
  /** Whether a host is a public name now: no other gets a certificate ordered. */
  isKnown(host: string): boolean;
  readonly doctor: DoctorCertificate;
  readonly log: Log;
  readonly clock: () => Date;
}

export interface PublicSide {
  readonly port: number;
  /** Of plain HTTP; `null` where there is none. */
  readonly plainPort: number | null;
  readonly certificates: CertificateSource;
  /** Handshakes that came to nothing since the start. */
  readonly failedHandshakes: number;
  /** Takes no new connections; resolves when those that were open have ended. */
  drain(): Promise<void>;
  /** Breaks off what is still open. */
  end(): void;
  close(): Promise<void>;
}

/** @throws Error when an address cannot be bound or the folder cannot be read */
export async function openPublicSide(options: PublicSideOptions): Promise<PublicSide> {
  const { tls, listen, server, doctor } = options;
  const { certificates, findChallenge, close } = await openCertificates(options);
  try {
    const front = await openTlsFront({
      ...listen,
      certificates: withDoctor(certificates, doctor),
      server,
      limits: { tls: connectionLimits(server) },
    });
    const plain =
      tls.plain === null
        ? null
        : await listenPlainBesideTls({ ...tls.plain, tlsPort: tls.publicPort ?? front.port, server, findChallenge });
    return {
      port: front.port,
      plainPort: plain?.port ?? null,
      certificates,
      get failedHandshakes() {
        return front.failedHandshakes;
      },
      async drain() {
        await Promise.all([front.drain(), plain?.drain()]);
      },
      end() {
        front.end();
        plain?.end();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Connections are counted where their handshakes are. */
function connectionLimits({ limits = {} }: StrictServerOptions) {
  const { connections, connectionsPerAddress } = limits;
  return {
    ...(connections === undefined ? {} : { connections }),
    ...(connectionsPerAddress === undefined ? {} : { connectionsPerAddress }),
  };
}

interface OpenedCertificates {
  readonly certificates: CertificateSource;
  findChallenge(host: string, token: string): string | null;
  close(): Promise<void>;
}

async function openCertificates(options: PublicSideOptions): Promise<OpenedCertificates> {
  const { tls, clock, log } = options;
  const events = loggedEvents(log);
  if (tls.certificates.kind === 'files') {
    const { folder } = tls.certificates;
    const certificates = await openCertificateFolder({ folder, now: clock, ...events });
    if (certificates.served().length === 0)
      log.warn({ folder }, 'no certificate is in service: clients get none until the folder holds one');
    return { certificates, findChallenge: () => null, close: () => certificates.close() };
  }
  return openOrdered(tls.certificates, options, events);
}

/** Loaded only where certificates are ordered. */
async function openOrdered(
  { directory, email, dnsHook: command, ca, folder }: OrderedCertificates,
  { tls: { domain }, clock, isKnown, log }: PublicSideOptions,
  events: CertificateEvents,
): Promise<OpenedCertificates & { certificates: AcmeCertificates }> {
  const [{ openAcmeCertificates }, { openAuthority }, { dnsHook, httpChallenges }, { AcmeStore }] = await Promise.all([
    import('./acme/acme-certificates.ts'),
    import('./acme/authority.ts'),
    import('./acme/challenges.ts'),
    import('./acme/store.ts'),
  ]);
  const store = await AcmeStore.open(folder, directory);
  const overHttp = httpChallenges();
  const overDns = command === null ? null : dnsHook({ command });
  const authority = await openAuthority({
    directory,
    email,
    ca,
    account: await store.account(),
    saveAccount: (url) => store.saveAccount(url),
    answer: overDns ?? overHttp,
    onLeftBehind: (name, reason) => log.warn({ name, reason }, 'a DNS record of a challenge may be left: remove it'),
  });
  const certificates = await openAcmeCertificates({
    authority,
    store,
    wildcardOf: command === null ? null : domain,
    isKnown,
    now: clock,
    ...events,
  });
  return {
    certificates,
    findChallenge: (host, token) => overHttp.find(host, token),
    async close() {
      await certificates.close();
      overDns?.end();
    },
  };
}

/** For the metrics: no label of theirs names an app, as the names of certificates do. */
export function certificateState({ certificates, failedHandshakes }: PublicSide, now: Date): CertificateState {
  const served = certificates.served();
  const expiries = served.map(({ notAfter }) => (notAfter.getTime() - now.getTime()) / 1_000);
  return {
    served: served.length,
    problems: certificates.problems().length,
    expiresIn: expiries.length === 0 ? null : Math.min(...expiries),
    failedHandshakes,
  };
}

function loggedEvents(log: Log): CertificateEvents {
  return {
    onServed: ({ name, notAfter, fingerprint }) =>
      log.info({ name, expires: notAfter.toISOString(), fingerprint }, 'a certificate is in service'),
    onProblem: ({ name, what }) => log.error({ name, reason: what }, 'a certificate needs attention'),
    onSolved: (name) => log.info({ name }, 'the certificate needs no attention any more'),
  };
}
