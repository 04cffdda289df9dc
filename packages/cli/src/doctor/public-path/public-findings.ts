// The part of `platform doctor` for the internet: the Ingress of this machine, and the way of public requests to it.
import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import type { PlatformConfig } from '@platform/core/config';
import { reasonOf } from '@platform/core/start';
import { runningParts } from '../../local/instance.ts';
import { ingressKeyFile, openIngressKey } from '../../members/ingress-identity.ts';
import { requireFreePort } from '../../process/running.ts';
import type { Finding } from '../finding.ts';
import type { CertificateOrigin } from './certificate-findings.ts';
import { walkPublicPath } from './walk.ts';

const CHECK = 'Ingress';

/** Without an Ingress on this machine there is nothing to look at: its own machine has the key that the walk needs. */
export async function publicFindings(config: PlatformConfig): Promise<Finding[]> {
  const { ingressListen: listen, ingressTls, ingressDomain: domain, ingressOrigin, dataDirectory } = config;
  if (listen === null) return [];
  const at = `${listen.port} on ${listen.host}`;
  const taken = await requireFreePort('PLATFORM_INGRESS_LISTEN', listen.host, listen.port).then(
    () => null,
    (error: unknown) => reasonOf(error),
  );
  if (taken === null) {
    if (runningParts(dataDirectory).length === 0) return [{ check: 'port', verdict: 'good', found: `${at} is free` }];
    const cure = 'See what the Ingress logs, and restart the platform.';
    return [{ check: CHECK, verdict: 'bad', found: `nothing listens at port ${at}`, cure }];
  }
  if (!existsSync(ingressKeyFile(dataDirectory)))
    return [{ check: 'port', verdict: 'bad', found: `${at} is taken`, cure: taken }];
  const { scheme } = ingressOrigin;
  const port = ingressOrigin.port === '' ? (scheme === 'https' ? 443 : 80) : Number(ingressOrigin.port.slice(1));
  const ingress = { ...listen, tls: originOf(ingressTls), key: openIngressKey(dataDirectory) };
  const means = { lookup: async (name: string) => (await lookup(name)).address, now: new Date() };
  return walkPublicPath({ domain, scheme, port, ingress }, means);
}

function originOf(tls: PlatformConfig['ingressTls']): CertificateOrigin | null {
  if (tls === null || tls.kind === 'files') return tls?.kind ?? null;
  return tls.dnsHook === null ? 'acme for each' : 'acme wildcard';
}
