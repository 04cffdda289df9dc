// The process of the Ingress.
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '@platform/core/log';
import { requireListen } from '../../ingress/listeners.ts';
import { ingressMetrics } from '../../ingress/metrics.ts';
import { startIngressProcess } from '../../ingress/start-ingress.ts';
import { openIngressKey } from '../../members/ingress-identity.ts';
import { openMetrics } from '../../process/metrics.ts';
import type { Started } from '../../process/running.ts';
import { runPart, type Serving } from '../run-part.ts';
import type { IngressOrder, IngressReport } from './ingress.ts';

/** Milliseconds for the topology to be known: a call over loopback. It goes on trying afterwards. */
const TOPOLOGY_PATIENCE = 5_000;

async function start(order: IngressOrder, started: Started): Promise<Serving<IngressReport>> {
  const { config, folder, coreOrigin, coreHost, logLevel, withMetrics } = order;
  const metrics = withMetrics ? await openMetrics('ingress', ingressMetrics) : undefined;
  const log = createLog(logLevel);
  const ingress = await startIngressProcess(config, {
    coreOrigin,
    coreHost,
    key: openIngressKey(folder),
    listen: requireListen(config),
    // Core registers it at its own start, under the key in this folder.
    onRemoved: () => log.error({}, 'core does not know the Ingress of this machine; restart the platform'),
    log,
    metrics: metrics?.own,
    folder,
  });
  started.add(() => ingress.stop());
  // Until then it would answer for every app that it is not connected.
  await Promise.race([ingress.informed, delay(TOPOLOGY_PATIENCE, undefined, { ref: false })]);
  return { report: { hasNames: ingress.state().publicNames > 0 }, metrics: metrics?.text };
}

runPart(start);
