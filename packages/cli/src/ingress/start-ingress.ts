// The Ingress as the commands start it: beside core, or alone on a machine that joined.

import * as path from 'node:path';
import type { Writable } from 'node:stream';
import type { createLog } from '@platform/core/log';
import { type Ingress, type IngressOptions, type PublicTls, startIngress } from '@platform/ingress';
import type { CollectedMetrics } from '@platform/ingress/metrics';
import type { IngressConfig } from './config.ts';

export type IngressPlace = Pick<
  IngressOptions,
  'coreOrigin' | 'coreHost' | 'coreKey' | 'key' | 'onRemoved' | 'listen'
> & {
  readonly log: ReturnType<typeof createLog>;
  readonly metrics: CollectedMetrics | undefined;
  /** Where an access log goes that is meant for standard output. Default: there. */
  readonly output?: Writable | undefined;
  /** The data folder. */
  readonly folder: string;
};

export function startIngressProcess(
  config: IngressConfig,
  { metrics, folder, output, ...place }: IngressPlace,
): Promise<Ingress> {
  const tls = publicTls(config, folder);
  return startIngress({
    ...place,
    ...irohOf(config),
    ...(tls === null ? {} : { tls }),
    limits: config.ingressLimits,
    trustedProxies: config.trustedProxies,
    accessLog: config.ingressLog === 'stdout' && output !== undefined ? { stream: output } : config.ingressLog,
    clock: () => new Date(),
    ...(metrics === undefined ? {} : { metrics }),
  });
}

/** How the Ingress ends TLS; `null`: it does not. */
function publicTls(config: IngressConfig, folder: string): PublicTls | null {
  const { ingressTls, ingressDomain: domain, ingressHttpListen: plain, ingressPublicPort, ca } = config;
  if (ingressTls === null) return null;
  const side = { domain, plain, ...(ingressPublicPort === null ? {} : { publicPort: ingressPublicPort }) };
  if (ingressTls.kind === 'files') return { ...side, certificates: ingressTls };
  return { ...side, certificates: { ...ingressTls, ca, folder: acmeFolder(folder) } };
}

/** Where an Ingress keeps what it orders, below the data folder. */
export function acmeFolder(folder: string): string {
  return path.join(folder, 'ingress', 'acme');
}

/** Without a place where nodes could find it there is nothing to open. */
function irohOf({ linkCarrier, ingressLink: listen, irohRelay: relay }: IngressConfig): Pick<IngressOptions, 'iroh'> {
  return linkCarrier === 'iroh' && (listen !== null || relay !== null) ? { iroh: { listen, relay } } : {};
}
