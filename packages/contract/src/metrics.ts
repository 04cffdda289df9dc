// Every metric of the platform: what an operator's Prometheus reads at PLATFORM_METRICS_LISTEN. docs/operators.md is
// proven equal to this table by a test, and the parts make their metrics of it. No label names an account, an app or an
// installation: whoever reads metrics learns how the machine does, and nothing about anybody on it.

interface MetricEntry {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** As Prometheus shows it. */
  readonly meaning: string;
}

/** Of the Runtime on a node. */
export const nodeMetrics = {
  platform_node_info: {
    type: 'gauge',
    labels: ['driver', 'mechanism'],
    meaning: 'Always 1; its labels say what confines workloads here.',
  },
  platform_node_installations: {
    type: 'gauge',
    labels: ['state'],
    meaning: 'Installations with a backend, by its state.',
  },
  platform_node_wakes_total: {
    type: 'counter',
    labels: [],
    meaning: 'Requests that came to a stopped backend and had it started.',
  },
  platform_node_start_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'Time from the decision to start a backend until it listens.',
  },
  platform_node_crashes_total: {
    type: 'counter',
    labels: [],
    meaning: 'Starts and runs of a backend that ended otherwise than they should.',
  },
  platform_node_reconcile_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'Time to compare a list of assignments with what there is.',
  },
  platform_node_gateway_requests_total: {
    type: 'counter',
    labels: ['direction'],
    meaning: 'Requests through all Gateways: outbound of backends, inbound to them.',
  },
  platform_node_gateway_bytes_total: {
    type: 'counter',
    labels: ['direction', 'flow'],
    meaning: 'Bytes through all Gateways, seen from the backend: sent or received.',
  },
  platform_node_gateway_failures_total: {
    type: 'counter',
    labels: ['upstream', 'code'],
    meaning: 'Requests through a Gateway whose other side failed or was too slow.',
  },
  platform_node_log_lines_dropped_total: {
    type: 'counter',
    labels: [],
    meaning: 'Lines that backends wrote to their logs too fast to be kept.',
  },
} as const satisfies Record<string, MetricEntry>;

/** Of core. */
export const coreMetrics = {
  platform_core_requests_total: {
    type: 'counter',
    labels: ['route', 'status'],
    meaning: 'Answered requests of the API, by the pattern of their route.',
  },
  platform_core_request_seconds: {
    type: 'histogram',
    labels: ['route'],
    meaning: 'Time to answer a request of the API. Live streams are left out; a node waits for news up to 25 s.',
  },
  platform_core_database_connections: {
    type: 'gauge',
    labels: ['state'],
    meaning: 'Connections to PostgreSQL: idle, in use, and how many requests wait for one.',
  },
  platform_core_live_streams: {
    type: 'gauge',
    labels: [],
    meaning: 'Open live streams of events and logs.',
  },
  platform_core_search_waiting: {
    type: 'gauge',
    labels: [],
    meaning: 'Search entries that OpenSearch was not told of yet; 0 without one.',
  },
  platform_core_search_failed_total: {
    type: 'counter',
    labels: [],
    meaning: 'Searches that PostgreSQL answered because OpenSearch failed to.',
  },
  platform_core_push_waiting: {
    type: 'gauge',
    labels: [],
    meaning: 'Web push messages that wait in the outbox, of all replicas together.',
  },
  platform_core_push_sent_total: {
    type: 'counter',
    labels: [],
    meaning: 'Web push messages that a push service took.',
  },
  platform_core_push_failed_total: {
    type: 'counter',
    labels: [],
    meaning: 'Attempts to send web push that failed and are repeated.',
  },
  platform_core_push_dropped_total: {
    type: 'counter',
    labels: ['reason'],
    meaning:
      'Web push messages given up: `expired`, `gone` (their browser unsubscribed), `refused` by the push service, `surplus` (the oldest of too many for one browser), or `too-large`.',
  },
} as const satisfies Record<string, MetricEntry>;

export type NodeMetric = keyof typeof nodeMetrics;
export type CoreMetric = keyof typeof coreMetrics;

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
    meaning: 'Restarts of a part that had ended by itself.',
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;
