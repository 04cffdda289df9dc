// The metrics of an Ingress for Prometheus.
import { type ingressMetrics as documented, ingressMetrics } from '@platform/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { IngressMetrics, IngressState } from './metrics-port.ts';

export interface CollectedMetrics extends IngressMetrics {
  /** The text of Prometheus, format 0.0.4, without metrics of the process as a whole. */
  text(): Promise<string>;
}

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createIngressMetrics(): CollectedMetrics {
  const registry = new Registry();
  const options = <Name extends keyof typeof documented>(name: Name) => ({
    name,
    help: ingressMetrics[name].meaning,
    labelNames: [...ingressMetrics[name].labels],
    registers: [registry],
  });
  let state = (): IngressState => ({ publicNames: 0, nodes: 0, isCurrent: false, certificates: null });
  const requests = new Counter(options('platform_ingress_requests_total'));
  const refused = new Counter(options('platform_ingress_refused_total'));
  const seconds = new Histogram({ ...options('platform_ingress_request_seconds'), buckets: SECONDS_BUCKETS });
  const bytes = new Counter(options('platform_ingress_answer_bytes_total'));
  const openRequests = new Gauge(options('platform_ingress_open_requests'));
  const openWebSockets = new Gauge(options('platform_ingress_open_websockets'));
  const failures = new Counter(options('platform_ingress_node_failures_total'));
  const dropped = new Counter(options('platform_ingress_log_lines_dropped_total'));
  new Gauge({
    ...options('platform_ingress_public_names'),
    collect() {
      this.set(state().publicNames);
    },
  });
  new Gauge({
    ...options('platform_ingress_nodes'),
    collect() {
      this.set(state().nodes);
    },
  });
  new Gauge({
    ...options('platform_ingress_current'),
    collect() {
      this.set(state().isCurrent ? 1 : 0);
    },
  });
  new Gauge({
    ...options('platform_ingress_certificates'),
    collect() {
      this.set(state().certificates?.served ?? 0);
    },
  });
  new Gauge({
    ...options('platform_ingress_certificate_problems'),
    collect() {
      this.set(state().certificates?.problems ?? 0);
    },
  });
  new Gauge({
    ...options('platform_ingress_certificate_expiry_seconds'),
    collect() {
      const expiresIn = state().certificates?.expiresIn ?? null;
      if (expiresIn === null) this.reset();
      else this.set(expiresIn);
    },
  });
  new Gauge({
    ...options('platform_ingress_failed_handshakes'),
    collect() {
      this.set(state().certificates?.failedHandshakes ?? 0);
    },
  });
  return {
    text: () => registry.metrics(),
    watch(ingress) {
      state = () => ingress.state();
    },
    answered(status, took, length) {
      requests.inc({ status: `${Math.floor(status / 100)}xx` });
      seconds.observe(took);
      bytes.inc(length);
    },
    refused: (code) => refused.inc({ code }),
    nodeFailed: () => failures.inc(),
    requestBegan: () => openRequests.inc(),
    requestEnded: () => openRequests.dec(),
    webSocketOpened() {
      requests.inc({ status: '1xx' });
      openWebSockets.inc();
    },
    webSocketClosed: () => openWebSockets.dec(),
    logLineDropped: () => dropped.inc(),
  };
}
