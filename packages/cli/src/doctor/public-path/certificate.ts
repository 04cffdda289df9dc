// The certificate that clients on the internet see: whether it covers the names of apps, who trusts it, how long it holds.
import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, connect, type PeerCertificate } from 'node:tls';
import { plainLine } from '@platform/contract';
import { reasonOf } from '@platform/core/start';
import { type LinkKey, publicKeyText } from '@platform/link';
import type { Finding } from '../finding.ts';
import { placeOf, type Way } from './ask.ts';
import { CERTIFICATES, type CertificateOrigin } from './certificate-findings.ts';

export interface Judge {
  /** Certificates that are trusted, PEM. Default: those of Node. */
  readonly authorities?: string;
  readonly now: Date;
}

const CHECK = 'public TLS';
const SOON_DAYS = 14;
const DAY = 86_400_000;
const TIMEOUT_MILLISECONDS = 10_000;

/** What the certificate should be for. */
interface Names {
  /** PLATFORM_INGRESS_DOMAIN */
  readonly domain: string;
  /** The one of this machine. */
  readonly ingress: { readonly tls: CertificateOrigin | null; readonly key: LinkKey };
}

export async function certificateFinding(way: Way, { domain, ingress }: Names, judge: Judge): Promise<Finding> {
  const { name } = way;
  const at = placeOf(way);
  let shown: Shown;
  try {
    shown = await certificateAt(way, judge);
  } catch (error) {
    return {
      check: CHECK,
      verdict: 'bad',
      found: `no TLS handshake with ${at} for ${name} (${reasonOf(error)})`,
      cure: `Have the proxy in front, or the Ingress with PLATFORM_INGRESS_TLS, end TLS for *.${domain}.`,
    };
  }
  const { certificate, distrust } = shown;
  if (isOwn(certificate, ingress.key)) {
    // The Ingress itself, which shows this under the doctor's name alone.
    const found = `TLS for ${name} ends at the Ingress`;
    if (ingress.tls === 'acme for each') return { check: CHECK, verdict: 'good', found };
    const cure = `See the lines of “${CERTIFICATES}”.`;
    return { check: CHECK, verdict: 'bad', found: `${found}, which has no certificate for *.${domain}`, cure };
  }
  const end = new Date(certificate.valid_to);
  const days = Math.floor((end.getTime() - judge.now.getTime()) / DAY);
  const until = end.toISOString().slice(0, 10);
  if (checkServerIdentity(name, certificate) !== undefined) {
    return {
      check: CHECK,
      verdict: 'bad',
      found: `the certificate at ${at} is for ${namesOf(certificate)}, not for *.${domain}`,
      cure: `Install a certificate for *.${domain} where TLS ends.`,
    };
  }
  if (days < 0) {
    return {
      check: CHECK,
      verdict: 'bad',
      found: `the certificate for *.${domain} ended on ${until}`,
      cure: 'Renew it where TLS ends, and check there why it was not renewed automatically.',
    };
  }
  if (distrust !== null) {
    return {
      check: CHECK,
      verdict: 'bad',
      found: `clients will not trust the certificate for *.${domain} (${distrust})`,
      cure: 'Install one of a public authority, with its intermediate certificates. Of your own authority: run the doctor with NODE_EXTRA_CA_CERTS=<its certificate>.',
    };
  }
  const found = `the certificate covers *.${domain} until ${until}`;
  if (days >= SOON_DAYS) return { check: CHECK, verdict: 'good', found };
  return { check: CHECK, verdict: 'warning', found, cure: 'Renew it now: it was not renewed automatically.' };
}

/** Whether a certificate is that of the Ingress' own key. */
function isOwn({ raw }: PeerCertificate, { publicKey }: LinkKey): boolean {
  const shown = new X509Certificate(raw).publicKey;
  return shown.asymmetricKeyType === 'ed25519' && shown.export({ format: 'jwk' }).x === publicKeyText(publicKey);
}

interface Shown {
  readonly certificate: PeerCertificate;
  /** Why it is not trusted, whatever its names and dates are. */
  readonly distrust: string | null;
}

function certificateAt({ address, port, name }: Way, { authorities }: Judge): Promise<Shown> {
  const socket = connect({
    host: address,
    port,
    servername: name,
    rejectUnauthorized: false,
    ...(authorities !== undefined && { ca: authorities }),
  });
  return new Promise<Shown>((resolve, reject) => {
    socket.setTimeout(TIMEOUT_MILLISECONDS, () => socket.destroy(new Error('no answer in time')));
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const code = socket.authorized ? null : String(socket.authorizationError);
      const isOther = code !== null && code !== 'CERT_HAS_EXPIRED' && code !== 'ERR_TLS_CERT_ALTNAME_INVALID';
      resolve({ certificate: socket.getPeerCertificate(), distrust: isOther ? code : null });
      // With the end of its handshake, for which the other side would wait.
      socket.end();
    });
  });
}

function namesOf({ subjectaltname = '', subject }: PeerCertificate): string {
  const names = subjectaltname.replaceAll('DNS:', '');
  return plainLine((names || String(subject?.CN ?? 'no name')).slice(0, 200));
}
