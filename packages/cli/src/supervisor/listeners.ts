// Every address and port on which `platform start` listens on this machine.
import type { PlatformConfig } from '@platform/core/config';
import type { PlannedListener } from '../process/listeners.ts';
import type { Part } from './part.ts';
import { parts as allParts } from './parts/table.ts';

/** In the order of the parts; then that of the supervisor itself, for metrics. @param parts Default: the platform's */
export function plannedListeners(config: PlatformConfig, parts: readonly Part[] = allParts): PlannedListener[] {
  const { metricsListen } = config;
  return [
    ...parts.filter((part) => part.isConfigured(config)).flatMap((part) => part.listeners?.(config) ?? []),
    ...(metricsListen === null ? [] : [{ variable: 'PLATFORM_METRICS_LISTEN', ...metricsListen, what: 'Prometheus' }]),
  ];
}
