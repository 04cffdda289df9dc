// Totals of all Gateways' traffic and of dropped log lines since the start of the Runtime, for ended and current runs.
// Reported to core with each heartbeat, and in the metrics.
import type { RunningGateway, Traffic } from './gateway-port.ts';

/** One run of a workload, as far as it is counted. */
export interface CountedRun {
  readonly gateway: Pick<RunningGateway, 'traffic'>;
  readonly logLinesDropped: () => number;
}

export interface Totals {
  readonly outbound: Traffic;
  readonly inbound: Traffic;
  readonly logLinesDropped: number;
}

export interface Tally {
  /** Counts a run from its start; the function it gives is called at its end. */
  run(run: CountedRun): () => void;
  totals(): Totals;
}

export function createTally(): Tally {
  const live = new Set<CountedRun>();
  const nothing: Traffic = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  let ended: Totals = { outbound: nothing, inbound: nothing, logLinesDropped: 0 };
  return {
    run(run) {
      live.add(run);
      return () => {
        if (live.delete(run)) ended = sum(ended, run);
      };
    },
    totals: () => [...live].reduce(sum, ended),
  };
}

function sum(totals: Totals, { gateway, logLinesDropped }: CountedRun): Totals {
  const { outbound, inbound } = gateway.traffic();
  return {
    outbound: add(totals.outbound, outbound),
    inbound: add(totals.inbound, inbound),
    logLinesDropped: totals.logLinesDropped + logLinesDropped(),
  };
}

function add(one: Traffic, other: Traffic): Traffic {
  return {
    requests: one.requests + other.requests,
    sentBytes: one.sentBytes + other.sentBytes,
    receivedBytes: one.receivedBytes + other.receivedBytes,
  };
}
