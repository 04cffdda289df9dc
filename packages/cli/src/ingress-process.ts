// The Ingress as the commands start it: beside core, or alone on a machine that joined.
import type { createLog } from '@platform/core/log';
import { type Ingress, type IngressOptions, startIngress } from '@platform/ingress';
import type { CollectedMetrics } from '@platform/ingress/metrics';
import type { IngressConfig } from './ingress-config.ts';

export type IngressPlace = Pick<
  IngressOptions,
  'coreOrigin' | 'coreHost' | 'coreKey' | 'key' | 'onRemoved' | 'listen'
> & {
  readonly log: ReturnType<typeof createLog>;
  readonly metrics: CollectedMetrics | undefined;
};

export function startIngressProcess(config: IngressConfig, { metrics, ...place }: IngressPlace): Promise<Ingress> {
  return startIngress({
    ...place,
    ...(config.linkCarrier === 'iroh' ? { iroh: { listen: config.ingressLink, relay: config.irohRelay } } : {}),
    limits: config.ingressLimits,
    trustedProxies: config.trustedProxies,
    accessLog: config.ingressLog,
    clock: () => new Date(),
    ...(metrics === undefined ? {} : { metrics }),
  });
}
