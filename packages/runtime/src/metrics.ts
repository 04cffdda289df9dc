// The node's metrics for Prometheus. They are collected from reported statuses and running Gateways; the lifecycle of
// workloads does not depend on them.
import { type InstallationStatus, nodeMetrics } from '@platform/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DriverReport } from './drivers/driver.ts';
import type { Tally } from './tally.ts';

export interface NodeMetrics {
  /** The text of Prometheus, format 0.0.4, without metrics of the process as a whole. */
  text(): Promise<string>;
  /** Begins to read what there is. Called once, by the Runtime. */
  watch(node: {
    readonly report: DriverReport;
    readonly statuses: () => Iterable<InstallationStatus>;
    readonly tally: Pick<Tally, 'totals'>;
  }): void;
  /** The status of an installation changed. */
  changed(status: InstallationStatus): void;
  /** A request found the backend stopped. */
  woken(): void;
  reconciled(seconds: number): void;
  gatewayEvent(event: object): void;
}

const nothing = { requests: 0, sentBytes: 0, receivedBytes: 0 };
const DIRECTIONS = ['outbound', 'inbound'] as const;
const STATES: readonly InstallationStatus['state'][] = ['stopped', 'starting', 'running', 'failed'];
const START_BUCKETS = [0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30, 60];
const RECONCILE_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export function createNodeMetrics(): NodeMetrics {
  const registry = new Registry();
  const options = <Name extends keyof typeof nodeMetrics>(name: Name) => ({
    name,
    help: nodeMetrics[name].meaning,
    labelNames: [...nodeMetrics[name].labels],
    registers: [registry],
  });
  let statuses: () => Iterable<InstallationStatus> = () => [];
  let totals: Tally['totals'] = () => ({ outbound: nothing, inbound: nothing, logLinesDropped: 0 });
  const before = new Map<string, InstallationStatus>();

  const info = new Gauge(options('platform_node_info'));
  new Gauge({
    ...options('platform_node_installations'),
    collect() {
      const counts = new Map<string, number>(STATES.map((state) => [state, 0]));
      for (const { state } of statuses()) counts.set(state, (counts.get(state) ?? 0) + 1);
      for (const [state, count] of counts) this.set({ state }, count);
    },
  });
  const wakes = new Counter(options('platform_node_wakes_total'));
  const starts = new Histogram({ ...options('platform_node_start_seconds'), buckets: START_BUCKETS });
  const crashes = new Counter(options('platform_node_crashes_total'));
  const reconciles = new Histogram({ ...options('platform_node_reconcile_seconds'), buckets: RECONCILE_BUCKETS });
  const failures = new Counter(options('platform_node_gateway_failures_total'));

  // Totals are kept where they arise; the Prometheus counter is set to them at each scrape.
  new Counter({
    ...options('platform_node_gateway_requests_total'),
    collect() {
      this.reset();
      for (const direction of DIRECTIONS) this.inc({ direction }, totals()[direction].requests);
    },
  });
  new Counter({
    ...options('platform_node_gateway_bytes_total'),
    collect() {
      this.reset();
      for (const direction of DIRECTIONS) {
        const { sentBytes, receivedBytes } = totals()[direction];
        this.inc({ direction, flow: 'sent' }, sentBytes);
        this.inc({ direction, flow: 'received' }, receivedBytes);
      }
    },
  });
  new Counter({
    ...options('platform_node_log_lines_dropped_total'),
    collect() {
      this.reset();
      this.inc(totals().logLinesDropped);
    },
  });

  return {
    text: () => registry.metrics(),
    watch(node) {
      statuses = node.statuses;
      totals = node.tally.totals;
      info.set({ driver: node.report.driver, mechanism: node.report.mechanism }, 1);
    },
    changed(status) {
      const former = before.get(status.installationId);
      if (status.state === 'stopped') before.delete(status.installationId);
      else before.set(status.installationId, status);
      if (former?.state === status.state && former.since === status.since) return;
      if (status.state === 'running' && former?.state === 'starting') {
        starts.observe((Date.parse(status.since) - Date.parse(former.since)) / 1_000);
      }
      // A state that explains itself by what went wrong: given up, or before the next attempt.
      const wasUp = former?.state === 'starting' || former?.state === 'running';
      const wentWrong = status.state === 'failed' || (status.state === 'starting' && status.reason !== undefined);
      if (wasUp && wentWrong) crashes.inc();
    },
    woken: () => wakes.inc(),
    reconciled: (seconds) => reconciles.observe(seconds),
    gatewayEvent(event) {
      if (!('event' in event) || event.event !== 'upstream_failure') return;
      if ('upstream' in event && 'code' in event) {
        failures.inc({ upstream: String(event.upstream), code: String(event.code) });
      }
    },
  };
}
