// Whom the Ingress takes for the client, once the doctor's request reached it. Wrong here, all strangers share one rate
// limit, or each may pretend to be another.
import type { DoctorFacts } from '@platform/ingress/answer-doctor';
import type { Finding } from '../finding.ts';
import type { Way } from './ask.ts';

/** What the doctor claims as a stranger might: an address of documentation (RFC 5737). */
export const PRETENDED = '192.0.2.1';

const CHECK = 'client';

/** @param behindProxy TLS ends before the Ingress, so that there must be a proxy */
export function clientFindings(facts: DoctorFacts, { scheme }: Pick<Way, 'scheme'>, behindProxy: boolean): Finding[] {
  return [addressFinding(facts, behindProxy), ...protocolFindings(facts, scheme)];
}

function addressFinding({ peer, forwardedFor, client }: DoctorFacts, behindProxy: boolean): Finding {
  if (client.address === PRETENDED) {
    return {
      check: CHECK,
      verdict: 'bad',
      found: `anyone can pretend any address: ${peer}, which PLATFORM_TRUSTED_PROXIES names, passes X-Forwarded-For on as it came`,
      cure: `Let the proxy at ${peer} add the address it sees (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;), or take ${peer} out of PLATFORM_TRUSTED_PROXIES if it is none.`,
    };
  }
  const added = forwardedFor !== null && forwardedFor !== PRETENDED;
  if (client.address !== peer) return { check: CHECK, verdict: 'good', found: `you are seen as ${client.address}` };
  if (added) {
    return {
      check: CHECK,
      verdict: 'bad',
      found: `all clients are seen as the proxy at ${peer}, and share one rate limit: its X-Forwarded-For is not believed`,
      cure: `Add ${peer} to PLATFORM_TRUSTED_PROXIES and restart the Ingress.`,
    };
  }
  if (!behindProxy) return { check: CHECK, verdict: 'good', found: `you are seen as ${peer}, without a proxy between` };
  return {
    check: CHECK,
    verdict: 'bad',
    found: `all clients are seen as the proxy at ${peer}, and share one rate limit: it says nothing of them`,
    cure: `Let the proxy at ${peer} add the address it sees (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;), and name it in PLATFORM_TRUSTED_PROXIES.`,
  };
}

function protocolFindings({ peer, client }: DoctorFacts, scheme: Way['scheme']): Finding[] {
  if (client.protocol === scheme) return [];
  return [
    {
      check: CHECK,
      verdict: 'warning',
      found: `apps read that clients use ${client.protocol}, and they use ${scheme}`,
      cure: `Let the proxy at ${peer} send X-Forwarded-Proto (nginx: proxy_set_header X-Forwarded-Proto $scheme;), and name it in PLATFORM_TRUSTED_PROXIES.`,
    },
  ];
}
