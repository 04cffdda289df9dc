// What an operator's Prometheus reads of core: requests by the pattern of their route, the database, and whatever the
// domains count.
import { type CoreMetric, coreMetrics } from '@platform/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FairPool } from './database/fair-pool.ts';
import type { Gauge as DomainGauge } from './domain.ts';

export interface AnsweredRequest {
  /** The pattern, e.g. `/v1/apps/:appId`; `null` for a path that is no route. */
  readonly route: string | null;
  readonly status: number;
  readonly seconds: number;
  /** A live stream, whose length says nothing about how fast it was answered. */
  readonly isStream: boolean;
}

type LabelsOf<Name extends CoreMetric> = Readonly<Record<(typeof coreMetrics)[Name]['labels'][number], string>>;

export type CounterName = {
  [Name in CoreMetric]: (typeof coreMetrics)[Name]['type'] extends 'counter' ? Name : never;
}[CoreMetric];

/** Adds `amount`, default 1. */
export type Count = <Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount?: number) => void;

export interface CoreMetrics {
  /** The text of Prometheus, format 0.0.4, without metrics of the process as a whole. */
  text(): Promise<string>;
  /** Begins to read what there is. Called once, by core. */
  watch(core: {
    /** All that core asks its database through. */
    readonly pools: readonly FairPool[];
    readonly gauges: readonly DomainGauge[];
  }): void;
  readonly count: Count;
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
  const counters = new Map<CoreMetric, Counter>();
  for (const name of Object.keys(coreMetrics) as CoreMetric[])
    if (coreMetrics[name].type === 'counter') counters.set(name, new Counter(options(name)));
  const seconds = new Histogram({ ...options('platform_core_request_seconds'), buckets: BUCKETS });
  const count: Count = (name, labels, amount = 1) => counters.get(name)?.inc(labels, amount);
  return {
    text: () => registry.metrics(),
    count,
    watch({ pools, gauges }) {
      for (const { name, read } of gauges)
        new Gauge({
          ...options(name),
          async collect() {
            this.set(await read());
          },
        });
      new Gauge({
        ...options('platform_core_database_connections'),
        collect() {
          const sum = (count: (pool: FairPool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
          const idle = sum(({ idleCount }) => idleCount);
          this.set({ state: 'idle' }, idle);
          this.set({ state: 'used' }, sum(({ totalCount }) => totalCount) - idle);
          this.set(
            { state: 'awaited' },
            sum(({ awaited }) => awaited),
          );
        },
      });
    },
    answered(request) {
      // One name for all paths that are none, or a caller could make labels without end.
      const route = request.route ?? 'none';
      count('platform_core_requests_total', { route, status: String(request.status) });
      if (!request.isStream) seconds.observe({ route }, request.seconds);
    },
  };
}
