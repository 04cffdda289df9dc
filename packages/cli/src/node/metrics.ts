// The metrics of a node, read where they are enabled.
import type { NodeMetrics } from '@platform/runtime/metrics';

export async function nodeMetrics(): Promise<NodeMetrics> {
  return (await import('@platform/runtime/metrics')).createNodeMetrics();
}
