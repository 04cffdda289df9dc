// The metrics of a messaging bridge for Prometheus.
import { bridgeMetrics, type bridgeMetrics as documented } from '@platform/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BridgeMetrics, BridgeState } from './metrics-port.ts';

export interface CollectedMetrics extends BridgeMetrics {
  /** The text of Prometheus, format 0.0.4, without metrics of the process as a whole. */
  text(): Promise<string>;
}

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createBridgeMetrics(): CollectedMetrics {
  const registry = new Registry();
  const options = <Name extends keyof typeof documented>(name: Name) => ({
    name,
    help: bridgeMetrics[name].meaning,
    labelNames: [...bridgeMetrics[name].labels],
    registers: [registry],
  });
  let state = (): BridgeState => ({ accounts: 0, openAccounts: 0, dirtyAccounts: 0 });
  const operations = new Counter(options('platform_messaging_bridge_operations_total'));
  const syncs = new Histogram({ ...options('platform_messaging_bridge_sync_seconds'), buckets: SECONDS_BUCKETS });
  const failures = new Counter(options('platform_messaging_bridge_sync_failures_total'));
  const gauge = (name: keyof typeof documented, read: (state: BridgeState) => number) =>
    new Gauge({
      ...options(name),
      collect() {
        this.set(read(state()));
      },
    });
  gauge('platform_messaging_bridge_accounts', ({ accounts }) => accounts);
  gauge('platform_messaging_bridge_open_accounts', ({ openAccounts }) => openAccounts);
  gauge('platform_messaging_bridge_dirty_accounts', ({ dirtyAccounts }) => dirtyAccounts);
  return {
    text: () => registry.metrics(),
    watch(read) {
      state = read;
    },
    operated: (operation, outcome) => operations.inc({ operation, outcome }),
    synced(seconds, isTaken) {
      if (isTaken) syncs.observe(seconds);
      else failures.inc();
    },
  };
}
