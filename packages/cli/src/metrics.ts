// The metrics of what runs in this process. Loaded only where somebody wants to read them: what counts costs memory.
import type { PlatformConfig } from '@platform/core/config/env.ts';
import type { CoreMetrics } from '@platform/core/metrics.ts';
import type { NodeMetrics } from '@platform/runtime/metrics.ts';
import type { MetricsPart } from './metrics-listener.ts';
import { requireFreePort, type Started } from './running.ts';

export interface PlatformMetrics {
  readonly core?: CoreMetrics;
  readonly node?: NodeMetrics;
}

/** Metrics of core and of the node beside it; nothing where PLATFORM_METRICS_LISTEN is not set. */
export async function openPlatformMetrics(config: PlatformConfig, started: Started): Promise<PlatformMetrics> {
  if (config.metricsListen === null) return {};
  const [{ createCoreMetrics }, { createNodeMetrics }] = await Promise.all([
    import('@platform/core/metrics.ts'),
    import('@platform/runtime/metrics.ts'),
  ]);
  const metrics = { core: createCoreMetrics(), node: createNodeMetrics() };
  await listen(config.metricsListen, started, Object.values(metrics));
  return metrics;
}

/** The same of a node alone. */
export async function openNodeMetrics(
  config: PlatformConfig,
  started: Started,
): Promise<Pick<PlatformMetrics, 'node'>> {
  if (config.metricsListen === null) return {};
  const { createNodeMetrics } = await import('@platform/runtime/metrics.ts');
  const node = createNodeMetrics();
  await listen(config.metricsListen, started, [node]);
  return { node };
}

async function listen(
  place: NonNullable<PlatformConfig['metricsListen']>,
  started: Started,
  parts: readonly MetricsPart[],
): Promise<void> {
  const { listenForMetrics } = await import('./metrics-listener.ts');
  await requireFreePort('PLATFORM_METRICS_LISTEN', place.host, place.port);
  const listener = await listenForMetrics(place, parts);
  started.add(() => listener.close());
}
