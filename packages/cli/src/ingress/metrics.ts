// The metrics of an Ingress, read where they are enabled.
import type { CollectedMetrics } from '@platform/ingress/metrics';

export async function ingressMetrics(): Promise<CollectedMetrics> {
  return (await import('@platform/ingress/metrics')).createIngressMetrics();
}
