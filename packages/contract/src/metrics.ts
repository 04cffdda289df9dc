// What an operator's Prometheus reads at PLATFORM_METRICS_LISTEN: the metrics of the parts beside core, whose own are
// with its domains. docs/operators.md is proven equal to them by a test. No label names an account, an app or an
// installation: metrics say how the machine does, and nothing about anybody on it.
import type { Metrics } from './domain.ts';
import type { coreMetrics } from './domains.ts';

/** Of the Runtime on a node. */
export const nodeMetrics = {
  platform_node_info: {
    type: 'gauge',
    labels: ['driver', 'mechanism'],
    meaning: 'Always 1; its labels name the sandbox of this node.',
  },
  platform_node_installations: {
    type: 'gauge',
    labels: ['state'],
    meaning: 'Installations with a backend, by its state.',
  },
  platform_node_wakes_total: {
    type: 'counter',
    labels: [],
    meaning: 'Requests that started a stopped backend.',
  },
  platform_node_start_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'Time from the decision to start a backend until it listens.',
  },
  platform_node_crashes_total: {
    type: 'counter',
    labels: [],
    meaning: 'Failed starts and crashes of backends.',
  },
  platform_node_reconcile_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'Time to reconcile assignments with the actual state.',
  },
  platform_node_gateway_requests_total: {
    type: 'counter',
    labels: ['direction'],
    meaning: 'Requests through all Gateways: outbound from backends, inbound to them.',
  },
  platform_node_gateway_bytes_total: {
    type: 'counter',
    labels: ['direction', 'flow'],
    meaning: 'Bytes through all Gateways, seen from the backend: sent or received.',
  },
  platform_node_gateway_failures_total: {
    type: 'counter',
    labels: ['upstream', 'code'],
    meaning: 'Gateway requests whose upstream failed or timed out.',
  },
  platform_node_log_lines_dropped_total: {
    type: 'counter',
    labels: [],
    meaning: 'Log lines dropped because backends wrote too fast.',
  },
} as const satisfies Metrics;

export type NodeMetric = keyof typeof nodeMetrics;
export type CoreMetric = keyof typeof coreMetrics;

/** Of an Ingress. */
export const ingressMetrics = {
  platform_ingress_requests_total: {
    type: 'counter',
    labels: ['status'],
    meaning: 'Requests from the internet that a node answered, by class of status: 1xx for WebSockets, 2xx to 5xx.',
  },
  platform_ingress_refused_total: {
    type: 'counter',
    labels: ['code'],
    meaning: 'Requests from the internet that the Ingress refused, by error code.',
  },
  platform_ingress_request_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'Time from the head of a request to the end of its answer. WebSockets are not counted.',
  },
  platform_ingress_answer_bytes_total: {
    type: 'counter',
    labels: [],
    meaning: 'Bytes of the bodies of answers, as nodes sent them.',
  },
  platform_ingress_open_requests: { type: 'gauge', labels: [], meaning: 'Requests under way.' },
  platform_ingress_open_websockets: { type: 'gauge', labels: [], meaning: 'Open WebSockets.' },
  platform_ingress_node_failures_total: {
    type: 'counter',
    labels: [],
    meaning: 'Requests that a node was not reached for, or that it failed to answer.',
  },
  platform_ingress_public_names: { type: 'gauge', labels: [], meaning: 'Public names that the Ingress serves.' },
  platform_ingress_nodes: { type: 'gauge', labels: [], meaning: 'Nodes that the Ingress can reach.' },
  platform_ingress_current: {
    type: 'gauge',
    labels: [],
    meaning:
      'Whether the Ingress goes by what core says now: 1, or 0 once it has been cut off for a minute, when it refuses everything.',
  },
  platform_ingress_certificates: {
    type: 'gauge',
    labels: [],
    meaning: 'Certificates in service; 0 where the Ingress speaks plain HTTP.',
  },
  platform_ingress_certificate_problems: {
    type: 'gauge',
    labels: [],
    meaning: 'Certificates that need the operator: not replaced or renewed, and the log says why.',
  },
  platform_ingress_certificate_expiry_seconds: {
    type: 'gauge',
    labels: [],
    meaning: 'Time until the first certificate in service expires.',
  },
  platform_ingress_failed_handshakes: {
    type: 'gauge',
    labels: [],
    meaning: 'TLS handshakes of clients that came to nothing since the start.',
  },
  platform_ingress_log_lines_dropped_total: {
    type: 'counter',
    labels: [],
    meaning: 'Lines of the access log that were dropped because nothing took them.',
  },
} as const satisfies Metrics;

/** Of the messaging bridge. */
export const bridgeMetrics = {
  platform_messaging_bridge_accounts: {
    type: 'gauge',
    labels: [],
    meaning: 'Accounts that the homeserver knows from the bridge.',
  },
  platform_messaging_bridge_open_accounts: {
    type: 'gauge',
    labels: [],
    meaning: 'Accounts whose keys are in memory; the bridge closes them after five minutes without use.',
  },
  platform_messaging_bridge_dirty_accounts: {
    type: 'gauge',
    labels: [],
    meaning: 'Accounts whose news at the homeserver wait to be read; it grows while the bridge cannot keep up.',
  },
  platform_messaging_bridge_sync_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'Time to read, decrypt and store what is new for an account at the homeserver.',
  },
  platform_messaging_bridge_sync_failures_total: {
    type: 'counter',
    labels: [],
    meaning: 'Times that this failed; the bridge tries again, later each time.',
  },
  platform_messaging_bridge_operations_total: {
    type: 'counter',
    labels: ['operation', 'outcome'],
    meaning: 'What core asked for, such as `send`, by outcome: `ok` or the code of the failure.',
  },
} as const satisfies Metrics;

/** Of the supervisor, which runs the parts of the platform as processes of their own. */
export const partMetrics = {
  platform_part_up: {
    type: 'gauge',
    labels: ['part'],
    meaning: 'Whether a part of the platform runs: 1, or 0 while it is being restarted.',
  },
  platform_part_restarts_total: {
    type: 'counter',
    labels: ['part'],
    meaning: 'Restarts of a part that ended unexpectedly.',
  },
} as const satisfies Metrics;
