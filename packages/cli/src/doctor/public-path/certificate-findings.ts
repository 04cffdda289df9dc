// What the Ingress of this machine says of its certificates: each that is missing, or will be, with what to do.
import { plainLine } from '@platform/contract';
import type { DoctorCertificates } from '@platform/ingress/answer-doctor';
import { minuteText } from '../../terminal/minute-text.ts';
import type { Finding } from '../finding.ts';

/** Where an Ingress has its certificates: files, or ACME with one for all names or one for each. */
export type CertificateOrigin = 'files' | 'acme wildcard' | 'acme for each';

interface Place {
  /** PLATFORM_INGRESS_DOMAIN */
  readonly domain: string;
  readonly origin: CertificateOrigin;
  readonly now: Date;
}

type Problem = DoctorCertificates['problems'][number];

export const CERTIFICATES = 'certificates';

export function certificateFindings(certificates: DoctorCertificates, place: Place): Finding[] {
  const { problems, more } = certificates;
  const findings = problems.map((problem) => problemFinding(problem, place));
  if (more > 0)
    findings.push({
      ...{ check: CERTIFICATES, verdict: 'warning', found: `${more} more need attention` },
      cure: 'See what the Ingress logs.',
    });
  return [serviceFinding(certificates, place), ...findings];
}

/** What is in service. */
function serviceFinding({ served, first, hasOwnName, problems }: DoctorCertificates, place: Place): Finding {
  const { domain, origin } = place;
  const count = served === 1 ? 'one is' : `${served} are`;
  const until = first === null ? '' : `; ${plainLine(first.name)} is valid until ${dayOf(first.expires)}`;
  const found = `${count} in service${until}`;
  if (hasOwnName) return { check: CERTIFICATES, verdict: 'good', found };
  if (origin === 'acme for each') {
    const each = 'each app gets its own at its first request';
    return { check: CERTIFICATES, verdict: 'good', found: served === 0 ? `none yet: ${each}` : `${found}; ${each}` };
  }
  if (origin === 'files' && served > 0)
    return {
      ...{ check: CERTIFICATES, verdict: 'warning', found: `${found}; apps without a file of their own have none` },
      cure: `Put _.${domain}.crt and _.${domain}.key, for *.${domain}, into the folder of PLATFORM_INGRESS_TLS to serve them all.`,
    };
  const cures = {
    files: `Put _.${domain}.crt and _.${domain}.key into the folder of PLATFORM_INGRESS_TLS; the Ingress looks every ten seconds.`,
    'acme wildcard': 'Wait a minute: the Ingress is ordering one, and logs the result.',
  };
  const cure = problems.length > 0 ? 'The next lines say why.' : cures[origin];
  return { check: CERTIFICATES, verdict: 'bad', found: `none for names below ${domain}`, cure };
}

function problemFinding(problem: Problem, place: Place): Finding {
  const { name, what, kind, retryAt, servedUntil } = problem;
  const isOfFiles = kind === 'unreadable' || kind === 'unwritable' || kind === 'file_name';
  const isServed = servedUntil !== null && new Date(servedUntil) > place.now;
  const inUse =
    isOfFiles || kind === 'expiry'
      ? ''
      : isServed
        ? `. The former one stays in use until ${dayOf(servedUntil)}`
        : '. Clients get no valid one';
  const retry = retryAt === null ? '' : `. The next try is at ${minuteText(retryAt)}`;
  const isBad = isOfFiles ? kind === 'unreadable' : !isServed;
  return {
    check: CERTIFICATES,
    verdict: isBad ? 'bad' : 'warning',
    found: `${plainLine(name)}: ${plainLine(what)}${inUse}${retry}`,
    cure: cureOf(problem, place),
  };
}

function cureOf({ kind, name, retryAt }: Problem, { domain, origin, now }: Place): string {
  const file = plainLine(name).replace(/^\*\./, '_.');
  const again =
    retryAt === null || new Date(retryAt) <= now
      ? ''
      : ' The Ingress tries again by itself; a restart does not speed it up.';
  switch (kind) {
    case 'unreadable':
      return 'Let the user of the Ingress read the folder of PLATFORM_INGRESS_TLS.';
    case 'unwritable':
      return 'Free space there, and let the user of the Ingress write it: after a restart everything would be ordered anew.';
    case 'file_name':
      return `Name the files after a host, or _.${domain} for *.${domain}, or take them out of the folder.`;
    case 'pair':
      return `Put a certificate for ${plainLine(name)} and its key into ${file}.crt and ${file}.key of the folder of PLATFORM_INGRESS_TLS, readable for the user of the Ingress.`;
    case 'expiry':
      return origin === 'files'
        ? `Renew it, put it into ${file}.crt and ${file}.key, and check why it was not renewed automatically.`
        : 'The Ingress should have renewed it: see what it logs.';
    case 'unreachable':
      return `Check PLATFORM_ACME_DIRECTORY, and that this machine reaches it; if it is your own authority, PLATFORM_OUTBOUND_CA_FILE.${again}`;
    case 'challenge':
      return origin === 'acme for each'
        ? `Let port 80 of that name lead to PLATFORM_INGRESS_HTTP_LISTEN here, through the firewall and DNS.${again}`
        : `Let PLATFORM_ACME_DNS_HOOK exit only when every name server answers the record; try it by hand.${again}`;
    case 'hook':
      return `Run PLATFORM_ACME_DNS_HOOK by hand, as the user of the Ingress: its output is not kept.${again}`;
    case 'rate_limit':
      return `Wait until then. With PLATFORM_ACME_DNS_HOOK the Ingress needs only one certificate for all apps.`;
    case 'order':
      return `Do what the authority says.${again}`;
  }
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}
