// The way of a public request, hop by hop as a client on the internet goes it: the Ingress itself, DNS, TLS, the proxies
// before the Ingress, and back. Each finding names the hop that is wrong; what lies behind it cannot be looked at.
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { plainLine } from '@platform/contract';
import { reasonOf } from '@platform/core/start';
import { isPublicAddress } from '@platform/http';
import {
  type DoctorFacts,
  doctorCertificates,
  doctorFacts,
  PIECES,
  SOCKET_TEXT,
} from '@platform/ingress/answer-doctor';
import { doctorLabel, doctorProof } from '@platform/ingress/doctor-name';
import type { LinkKey } from '@platform/link';
import type { Finding } from '../finding.ts';
import { type Answer, ask, askForPieces, askForWebSocket, placeOf, type Way } from './ask.ts';
import { certificateFinding, type Judge } from './certificate.ts';
import { CERTIFICATES, type CertificateOrigin, certificateFindings } from './certificate-findings.ts';
import { clientFindings, PRETENDED } from './client-findings.ts';

export interface PublicPath {
  /** PLATFORM_INGRESS_DOMAIN */
  readonly domain: string;
  /** As in the addresses that people see. */
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** Where the authority checks names over plain HTTP: 80, but in tests. */
  readonly challengePort?: number;
  /** The Ingress of this machine. */
  readonly ingress: {
    readonly host: string;
    readonly port: number;
    /** Where it has certificates; `null`: it speaks plain HTTP. */
    readonly tls: CertificateOrigin | null;
    readonly key: LinkKey;
  };
}

export interface Means extends Judge {
  /** @returns the address of a name @throws Error when it has none */
  lookup(name: string): Promise<string>;
}

const DOMAIN = 'public name';
const INGRESS = 'Ingress';
const HOST = 'public host';
const CHALLENGE = 'public HTTP';
const PIECES_CHECK = 'buffering';
const SOCKET = 'WebSocket';

export async function walkPublicPath(path: PublicPath, means: Means): Promise<Finding[]> {
  const { domain, scheme, port, ingress } = path;
  const name = `${doctorLabel(ingress.key, means.now)}.${domain}`;
  const address = loopbackOf(ingress.host);
  const own: Way = { scheme: ingress.tls === null ? 'http' : 'https', address, port: ingress.port, name };
  const begun = await ingressFinding(own);
  if (begun.verdict !== 'good') return [begun];
  const certificates = await ownCertificates(own, path, means);
  if (isLocal(domain)) {
    const local = `*.${domain} leads every machine to itself: fine on this machine only. To be reached from elsewhere, set PLATFORM_INGRESS_DOMAIN`;
    const laptop: Finding = { check: DOMAIN, verdict: 'good', found: local };
    return [begun, ...certificates, laptop, ...(await behindName(own, false))];
  }
  const named = await nameFinding(name, domain, means);
  if (named.address === null) return [begun, ...certificates, named.finding];
  const way: Way = { scheme, address: named.address, port, name };
  const secured = scheme === 'https' ? [await certificateFinding(way, path, means)] : [];
  const challenged = ingress.tls === 'acme for each' ? [await challengeFinding(way, path)] : [];
  const findings = [begun, ...certificates, named.finding, ...challenged, ...secured];
  if (secured.some(({ verdict, found }) => verdict === 'bad' && found.startsWith('no TLS'))) return findings;
  return [...findings, ...(await behindName(way, ingress.tls === null))];
}

/** The Ingress of this machine, asked without anything between. */
async function ingressFinding(own: Way): Promise<Finding> {
  const at = placeOf(own);
  const cure = 'See what the Ingress logs, and PLATFORM_INGRESS_LISTEN.';
  try {
    const { status } = await ask(own, '/facts');
    if (status === 200) return { check: INGRESS, verdict: 'good', found: `answers at ${at}` };
    return { check: INGRESS, verdict: 'bad', found: `what answers at ${at} is not the Ingress of this machine`, cure };
  } catch (error) {
    return { check: INGRESS, verdict: 'bad', found: `does not answer at ${at} (${reasonOf(error)})`, cure };
  }
}

/** What the Ingress says of its certificates. */
async function ownCertificates(own: Way, { domain, ingress }: PublicPath, { now }: Means): Promise<Finding[]> {
  if (ingress.tls === null) return [];
  try {
    const { status, text } = await ask(own, `/certificates/${doctorProof(ingress.key, now)}`);
    if (status !== 200) throw new Error(`the answer is ${status}`);
    return certificateFindings(doctorCertificates.parse(JSON.parse(text)), { domain, origin: ingress.tls, now });
  } catch (error) {
    const found = `the Ingress does not report them (${reasonOf(error)})`;
    return [{ check: CERTIFICATES, verdict: 'bad', found, cure: 'Restart the Ingress, and see what it logs.' }];
  }
}

async function nameFinding(
  name: string,
  domain: string,
  { lookup }: Means,
): Promise<{ readonly finding: Finding; readonly address: string | null }> {
  try {
    const address = await lookup(name);
    const found = `${name} is ${address}`;
    if (isPublicAddress(address)) return { finding: { check: DOMAIN, verdict: 'good', found }, address };
    const cure = `Only this network reaches that address. For the internet, let *.${domain} lead to a public one.`;
    return { finding: { check: DOMAIN, verdict: 'warning', found, cure }, address };
  } catch (error) {
    const finding: Finding = {
      check: DOMAIN,
      verdict: 'bad',
      found: `names below ${domain} do not resolve (${reasonOf(error)})`,
      cure: `Add a wildcard DNS record *.${domain} with the address of the Ingress, or of the proxy before it.`,
    };
    return { finding, address: null };
  }
}

/** Whether the authority gets through to the plain listener, which leads everything but its challenges to https. */
async function challengeFinding(way: Way, { challengePort: port = 80 }: PublicPath): Promise<Finding> {
  const at = placeOf({ ...way, port });
  const cure = `Let port ${port} there lead to PLATFORM_INGRESS_HTTP_LISTEN of this machine, with its Host: the authority checks names there.`;
  const bad = (found: string): Finding => ({ check: CHALLENGE, verdict: 'bad', found, cure });
  try {
    const { status, headers } = await ask({ ...way, scheme: 'http', port }, '/facts');
    if (status === 308 && headers.location?.startsWith(`https://${way.name}`) === true)
      return { check: CHALLENGE, verdict: 'good', found: `${at} leads to https, and answers the authority` };
    return bad(`what answers at ${at} is not the Ingress (${status})`);
  } catch (error) {
    return bad(`nothing answers at ${at} (${reasonOf(error)})`);
  }
}

/** What becomes of requests and answers between the address that the name leads to, and the Ingress. */
async function behindName(way: Way, behindProxy: boolean): Promise<Finding[]> {
  let answer: Answer;
  try {
    answer = await ask(way, '/facts', { 'x-forwarded-for': PRETENDED });
  } catch (error) {
    return [
      {
        check: HOST,
        verdict: 'bad',
        found: `nothing answers at ${placeOf(way)} (${reasonOf(error)})`,
        cure: 'Start the Ingress or the proxy there, and let its port through the firewall.',
      },
    ];
  }
  const facts = factsOf(answer);
  if (facts === null) return [strangerFinding(answer, way)];
  if (hostnameOf(facts.host) !== way.name) return [changedHost(way, `as ${hostnameOf(facts.host)}`)];
  const host: Finding = { check: HOST, verdict: 'good', found: `requests arrive at the Ingress with their host` };
  const client = clientFindings(facts, way, behindProxy);
  return [host, ...client, await piecesFinding(way), await socketFinding(way)];
}

function factsOf({ status, text }: Answer): DoctorFacts | null {
  if (status !== 200) return null;
  try {
    return doctorFacts.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Something answered, and not the Ingress of this machine under the name that it was asked for. */
function strangerFinding({ status, headers, text }: Answer, way: Way): Finding {
  if (status === 421 && text.includes('"unknown_host"')) return changedHost(way, 'under another name');
  const server = headers.server === undefined ? '' : ` by ${plainLine(String(headers.server).slice(0, 60))}`;
  return {
    check: HOST,
    verdict: 'bad',
    found: `${placeOf(way)} answers ${status}${server} for ${way.name}, which is not the Ingress`,
    cure: 'Let the proxy there pass every host below PLATFORM_INGRESS_DOMAIN to the Ingress, or let the DNS record lead to the Ingress.',
  };
}

function changedHost(way: Way, how: string): Finding {
  return {
    check: HOST,
    verdict: 'bad',
    found: `a request by ${placeOf(way)} arrives at an Ingress ${how}`,
    cure: 'Let the proxy pass Host unchanged (nginx: proxy_set_header Host $host;). If it passes requests to Ingresses of other machines too, run ./platform doctor there.',
  };
}

async function piecesFinding(way: Way): Promise<Finding> {
  const id = randomBytes(8).toString('hex');
  try {
    let received = '';
    for await (const piece of askForPieces(way, `/pieces/${id}`)) {
      if (received === '') await ask(way, `/release/${id}`);
      received += piece;
    }
    if (received.endsWith(PIECES.released))
      return { check: PIECES_CHECK, verdict: 'good', found: 'an answer arrives piece by piece' };
    return {
      check: PIECES_CHECK,
      verdict: 'bad',
      found: 'an answer arrives only when it is complete: something before the Ingress holds it back',
      cure: 'Turn that off in the proxy (nginx: proxy_buffering off;), for event streams and long downloads.',
    };
  } catch (error) {
    const found = `an answer in pieces does not arrive (${reasonOf(error)})`;
    return { check: PIECES_CHECK, verdict: 'bad', found, cure: 'See what the proxy before the Ingress logs.' };
  }
}

async function socketFinding(way: Way): Promise<Finding> {
  const cure =
    'Let the proxy pass upgrades (nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";).';
  try {
    const received = await askForWebSocket(way, '/socket');
    if (received.includes(SOCKET_TEXT)) return { check: SOCKET, verdict: 'good', found: 'a WebSocket passes' };
    return { check: SOCKET, verdict: 'bad', found: 'a WebSocket opens, and what is sent on it does not arrive', cure };
  } catch (error) {
    return { check: SOCKET, verdict: 'bad', found: `a WebSocket does not pass (${reasonOf(error)})`, cure };
  }
}

function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

function isLocal(domain: string): boolean {
  return domain === 'localhost' || domain.endsWith('.localhost');
}

/** Where a listener on all addresses is reached from its own machine. */
function loopbackOf(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 6) return bare === '::' ? '::1' : bare;
  return bare === '0.0.0.0' ? '127.0.0.1' : bare;
}
