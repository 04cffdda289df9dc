// The metrics of the parts that run in this process. Loaded only where metrics are enabled, since collecting costs
// memory.
import type { PlatformConfig } from '@platform/core/config';
import type { CoreMetrics } from '@platform/core/metrics';
import type { CollectedMetrics } from '@platform/ingress/metrics';
import type { NodeMetrics } from '@platform/runtime/metrics';
import { requireFreePort, type Started } from './running.ts';

/** Core's, and those of its process. */
export async function openCoreMetrics(): Promise<{ readonly core: CoreMetrics; text(): Promise<string> }> {
  const { createCoreMetrics } = await import('@platform/core/metrics');
  const core = createCoreMetrics();
  return { core, text: await withProcess('core', core) };
}

/** The node's, and those of its process. */
export async function openOwnNodeMetrics(): Promise<{ readonly node: NodeMetrics; text(): Promise<string> }> {
  const { createNodeMetrics } = await import('@platform/runtime/metrics');
  const node = createNodeMetrics();
  return { node, text: await withProcess('node', node) };
}

/** Of a node alone, which serves them itself; nothing where PLATFORM_METRICS_LISTEN is not set. */
export async function openNodeMetrics(
  config: PlatformConfig,
  started: Started,
): Promise<{ readonly node?: NodeMetrics }> {
  if (config.metricsListen === null) return {};
  const { node, text } = await openOwnNodeMetrics();
  await serveMetrics(config.metricsListen, started, text);
  return { node };
}

/** The Ingress's, and those of its process. */
export async function openOwnIngressMetrics(): Promise<{
  readonly ingress: CollectedMetrics;
  text(): Promise<string>;
}> {
  const { createIngressMetrics } = await import('@platform/ingress/metrics');
  const ingress = createIngressMetrics();
  return { ingress, text: await withProcess('ingress', ingress) };
}

/** Of an Ingress alone, which serves them itself; nothing where PLATFORM_METRICS_LISTEN is not set. */
export async function openIngressMetrics(
  config: PlatformConfig,
  started: Started,
): Promise<{ readonly ingress?: CollectedMetrics }> {
  if (config.metricsListen === null) return {};
  const { ingress, text } = await openOwnIngressMetrics();
  await serveMetrics(config.metricsListen, started, text);
  return { ingress };
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

/** The metrics of a part and of its process, labelled to distinguish it from the other processes. */
async function withProcess(
  part: 'core' | 'node' | 'ingress',
  own: { text(): Promise<string> },
): Promise<() => Promise<string>> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  collectDefaultMetrics({ register: registry });
  return async () => (await Promise.all([own.text(), registry.metrics()])).join('\n');
}
