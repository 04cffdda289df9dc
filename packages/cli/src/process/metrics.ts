// The metrics of a process of the platform. Loaded only where metrics are enabled, since collecting costs memory.
import type { PlatformConfig } from '@platform/core/config';
import { requireFreePort, type Started } from './running.ts';

/** What a part of the platform counts, in the format of Prometheus. */
export interface OwnMetrics {
  text(): Promise<string>;
}

/** Those of a part, and those of its process. @param part the label of the latter: the part's name in lower case */
export async function openMetrics<Own extends OwnMetrics>(
  part: string,
  create: () => Promise<Own>,
): Promise<{ readonly own: Own; text(): Promise<string> }> {
  const own = await create();
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  collectDefaultMetrics({ register: registry });
  return { own, text: async () => (await Promise.all([own.text(), registry.metrics()])).join('\n') };
}

/** Of a member that runs alone and serves them itself; `undefined` where PLATFORM_METRICS_LISTEN is not set. */
export async function serveOwnMetrics<Own extends OwnMetrics>(
  part: string,
  create: () => Promise<Own>,
  { metricsListen }: Pick<PlatformConfig, 'metricsListen'>,
  started: Started,
): Promise<Own | undefined> {
  if (metricsListen === null) return undefined;
  const { own, text } = await openMetrics(part, create);
  await serveMetrics(metricsListen, started, text);
  return own;
}

/** Serves what `text` gives until the command ends. */
export async function serveMetrics(
  place: NonNullable<PlatformConfig['metricsListen']>,
  started: Started,
  text: () => Promise<string>,
): Promise<void> {
  const { listenForMetrics } = await import('./metrics-listener.ts');
  await requireFreePort('PLATFORM_METRICS_LISTEN', place.host, place.port);
  const listener = await listenForMetrics(place, text);
  started.add(() => listener.close());
}
