// Stores what nodes report with their heartbeats for the operator's inventory: their current load, and the traffic of
// their Gateways by the hour. Reports hold totals and core adds the differences, so the next one makes up for a lost
// one.

import type { NodeHeartbeat } from '@platform/contract';
import type { Kysely } from 'kysely';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { addToHour, keepReport, removeHoursBefore } from './traffic-queries.ts';

const HOUR = 3_600_000;
const HOURS_SHOWN = 24;
const HOURS_KEPT = 48;

type Tallies = NonNullable<NodeHeartbeat['traffic']>;

/**
 * To be called while the row of the node is locked, or two reports of one node would both be added to the former one.
 */
export async function takeReport(
  trx: Kysely<DatabaseSchema>,
  nodeId: string,
  { report, now, proven }: { readonly report: NodeHeartbeat; readonly now: Date; readonly proven: ProvenTime },
): Promise<void> {
  if (report.load === undefined && report.traffic === undefined) return;
  const former = await keepReport(trx, nodeId, report);
  const { traffic } = report;
  if (traffic === undefined) return;
  const outbound = growth(traffic, former, 'outbound');
  const inbound = growth(traffic, former, 'inbound');
  if ([outbound, inbound].every((way) => Object.values(way).every((value) => value === 0))) return;
  const hour = hourOf(now);
  if (await addToHour(trx, hour, { outbound, inbound }))
    await removeHoursBefore(trx, earlier(proven, HOURS_KEPT * HOUR));
}

function growth(now: Tallies, former: Tallies | null, way: 'outbound' | 'inbound'): Tallies['outbound'] {
  const base = former?.run === now.run ? former[way] : { requests: 0, sentBytes: 0, receivedBytes: 0 };
  return {
    requests: Math.max(0, now[way].requests - base.requests),
    sentBytes: Math.max(0, now[way].sentBytes - base.sentBytes),
    receivedBytes: Math.max(0, now[way].receivedBytes - base.receivedBytes),
  };
}

/** The beginnings of the hours that the inventory shows, the oldest first. */
export function shownHours(now: Date): Date[] {
  const last = hourOf(now).getTime();
  return Array.from({ length: HOURS_SHOWN }, (_, index) => new Date(last - (HOURS_SHOWN - 1 - index) * HOUR));
}

function hourOf(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / HOUR) * HOUR);
}
