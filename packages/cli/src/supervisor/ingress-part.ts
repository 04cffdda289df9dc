// The Ingress of this machine as a process of its own: strangers reach it, so it has neither the database nor the master
// key, and runs no app.
import { setTimeout as delay } from 'node:timers/promises';
import { createLog, type LogLevel } from '@platform/core/log';
import type { IngressConfig } from '../ingress-config.ts';
import { openIngressKey } from '../ingress-identity.ts';
import { startIngressProcess } from '../ingress-process.ts';
import { openOwnIngressMetrics } from '../metrics.ts';
import type { Started } from '../running.ts';
import { runPart, type Serving } from './run-part.ts';

export interface IngressOrder {
  readonly config: IngressConfig;
  /** Where it listens: that of `config`, which may have none. */
  readonly listen: NonNullable<IngressConfig['ingressListen']>;
  /** The data folder, absolute and locked. */
  readonly folder: string;
  readonly coreOrigin: string;
  readonly coreHost: string;
  readonly logLevel: LogLevel;
  readonly withMetrics: boolean;
}

export interface IngressReport {
  /** Whether an app has an address on the internet. */
  readonly hasNames: boolean;
}

/** Milliseconds for the topology to be known: a call over loopback. It goes on trying afterwards. */
const TOPOLOGY_PATIENCE = 5_000;

async function start(order: IngressOrder, started: Started): Promise<Serving<IngressReport>> {
  const { config, listen, folder, coreOrigin, coreHost, logLevel, withMetrics } = order;
  const metrics = withMetrics ? await openOwnIngressMetrics() : undefined;
  const log = createLog(logLevel);
  const ingress = await startIngressProcess(config, {
    coreOrigin,
    coreHost,
    key: openIngressKey(folder),
    listen,
    // Core registers it at its own start, under the key in this folder.
    onRemoved: () => log.error({}, 'core does not know the Ingress of this machine; restart the platform'),
    log,
    metrics: metrics?.ingress,
    folder,
  });
  started.add(() => ingress.stop());
  // Until then it would answer for every app that it is not connected.
  await Promise.race([ingress.informed, delay(TOPOLOGY_PATIENCE, undefined, { ref: false })]);
  return { report: { hasNames: ingress.state().publicNames > 0 }, metrics: metrics?.text };
}

runPart(start);
