// Whom the Ingress takes for the client, once the doctor's request reached it. Wrong here, all strangers share one rate
// limit, or each may pretend to be another.
import { plainLine } from '@platform/contract';
import type { DoctorFacts } from '@platform/ingress/answer-doctor';
import type { Finding } from '../finding.ts';
import type { Way } from './ask.ts';

/** What the doctor claims as a stranger might: an address of documentation (RFC 5737). */
export const PRETENDED = '192.0.2.1';

const CHECK = 'client';
const NGINX = 'nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;';

/** @param behindProxy TLS ends before the Ingress, so that there must be a proxy */
export function clientFindings(facts: DoctorFacts, { scheme }: Pick<Way, 'scheme'>, behindProxy: boolean): Finding[] {
  return [addressFinding(facts, behindProxy), ...protocolFindings(facts, scheme)];
}

function addressFinding({ peer, isTrusted, forwardedFor, client }: DoctorFacts, behindProxy: boolean): Finding {
  const good = (found: string): Finding => ({ check: CHECK, verdict: 'good', found });
  const bad = (found: string, cure: string): Finding => ({ check: CHECK, verdict: 'bad', found, cure });
  const last = (forwardedFor ?? '').split(',').at(-1)?.trim() ?? '';
  const isAdded = last !== '' && last !== PRETENDED;
  if (isTrusted && isAdded)
    // The address of this machine may be trusted as a proxy's is; what stands before it then counts.
    return good(
      client.address === PRETENDED
        ? `the proxy at ${peer} adds ${plainLine(last.slice(0, 64))}`
        : `the Ingress sees you as ${client.address}`,
    );
  if (isTrusted && last === PRETENDED)
    return bad(
      `clients can forge any address: ${peer}, which PLATFORM_TRUSTED_PROXIES names, passes X-Forwarded-For on unchanged`,
      `Let the proxy at ${peer} add the address it sees (${NGINX}), or take ${peer} out of PLATFORM_TRUSTED_PROXIES if it is not a proxy.`,
    );
  if (isAdded)
    return bad(
      `the Ingress sees all clients as the proxy at ${peer}, with one rate limit: it does not trust that proxy's X-Forwarded-For`,
      `Add ${peer} to PLATFORM_TRUSTED_PROXIES and restart the Ingress.`,
    );
  if (!behindProxy) return good(`the Ingress sees you as ${peer}, without a proxy between`);
  return bad(
    `the Ingress sees all clients as the proxy at ${peer}, with one rate limit: that proxy sends no address of theirs`,
    `Let the proxy at ${peer} add the address it sees (${NGINX}), and name it in PLATFORM_TRUSTED_PROXIES.`,
  );
}

function protocolFindings({ peer, client }: DoctorFacts, scheme: Way['scheme']): Finding[] {
  if (client.protocol === scheme) return [];
  return [
    {
      check: CHECK,
      verdict: 'warning',
      found: `apps see ${client.protocol}, but clients use ${scheme}`,
      cure: `Let the proxy at ${peer} send X-Forwarded-Proto (nginx: proxy_set_header X-Forwarded-Proto $scheme;), and name it in PLATFORM_TRUSTED_PROXIES.`,
    },
  ];
}
