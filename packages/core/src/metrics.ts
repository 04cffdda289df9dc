// What an operator's Prometheus is told of core: requests by the pattern of their route, the database, live streams.
import { coreMetrics } from '@platform/contract';
import type pg from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PushCounts } from './push/push-worker.ts';

export interface AnsweredRequest {
  /** The pattern, e.g. `/v1/apps/:appId`; `null` for a path that is no route. */
  readonly route: string | null;
  readonly status: number;
  readonly seconds: number;
  /** A live stream, whose length says nothing about how fast it was answered. */
  readonly isStream: boolean;
}

export interface CoreMetrics {
  /** The text of Prometheus, format 0.0.4, without metrics of the process as a whole. */
  text(): Promise<string>;
  /** Begins to read what there is. Called once, by core. */
  watch(core: {
    /** All that core asks its database through. */
    readonly pools: readonly pg.Pool[];
    readonly liveStreams: () => number;
    readonly pushWaiting: () => Promise<number>;
    readonly searchWaiting: () => Promise<number>;
  }): void;
  readonly push: PushCounts;
  /** A search that an index elsewhere failed to answer. */
  searchFailed(): void;
  answered(request: AnsweredRequest): void;
}

const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function createCoreMetrics(): CoreMetrics {
  const registry = new Registry();
  const options = <Name extends keyof typeof coreMetrics>(name: Name) => ({
    name,
    help: coreMetrics[name].meaning,
    labelNames: [...coreMetrics[name].labels],
    registers: [registry],
  });
  const requests = new Counter(options('platform_core_requests_total'));
  const seconds = new Histogram({ ...options('platform_core_request_seconds'), buckets: BUCKETS });
  const pushSent = new Counter(options('platform_core_push_sent_total'));
  const pushFailed = new Counter(options('platform_core_push_failed_total'));
  const pushDropped = new Counter(options('platform_core_push_dropped_total'));
  const searchFailed = new Counter(options('platform_core_search_failed_total'));
  return {
    text: () => registry.metrics(),
    push: {
      sent: () => pushSent.inc(),
      failed: () => pushFailed.inc(),
      dropped: (reason) => pushDropped.inc({ reason }),
    },
    searchFailed: () => searchFailed.inc(),
    watch({ pools, liveStreams, pushWaiting, searchWaiting }) {
      new Gauge({
        ...options('platform_core_search_waiting'),
        async collect() {
          this.set(await searchWaiting());
        },
      });
      new Gauge({
        ...options('platform_core_push_waiting'),
        async collect() {
          this.set(await pushWaiting());
        },
      });
      new Gauge({
        ...options('platform_core_database_connections'),
        collect() {
          const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
          const idle = sum(({ idleCount }) => idleCount);
          this.set({ state: 'idle' }, idle);
          this.set({ state: 'used' }, sum(({ totalCount }) => totalCount) - idle);
          const awaited = sum(({ waitingCount }) => waitingCount);
          this.set({ state: 'awaited' }, awaited);
        },
      });
      new Gauge({
        ...options('platform_core_live_streams'),
        collect() {
          this.set(liveStreams());
        },
      });
    },
    answered(request) {
      // One name for all paths that are none, or a caller could make labels without end.
      const route = request.route ?? 'none';
      requests.inc({ route, status: String(request.status) });
      if (!request.isStream) seconds.observe({ route }, request.seconds);
    },
  };
}
