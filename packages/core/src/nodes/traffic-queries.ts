// All SQL of what nodes report of their load and traffic.

import type { NodeHeartbeat, TrafficTotals } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { BEHIND_NAT } from '../topology/face.ts';

type Executor = Kysely<DatabaseSchema>;
type Tallies = NonNullable<NodeHeartbeat['traffic']>;

export interface BothWays {
  readonly outbound: TrafficTotals;
  readonly inbound: TrafficTotals;
}

/** Replaces a node's last report. Returns the totals of the former one. */
export async function keepReport(
  db: Executor,
  nodeId: string,
  { load, traffic }: NodeHeartbeat,
): Promise<Tallies | null> {
  // PostgreSQL refuses what is too small for its type.
  const cpus = load === undefined ? null : Math.fround(load.cpus);
  const { rows } = await sql<{ traffic: Tallies | null }>`
    WITH former AS (SELECT id, traffic FROM nodes WHERE id = ${nodeId})
    UPDATE nodes
       SET load_cpus = ${cpus}, load_memory_mib = ${load?.memoryUsedMiB ?? null},
           traffic = COALESCE(${traffic === undefined ? null : JSON.stringify(traffic)}::jsonb, nodes.traffic)
      FROM former WHERE nodes.id = former.id
    RETURNING former.traffic`.execute(db);
  return rows[0]?.traffic ?? null;
}

/** Adds traffic to an hour. Returns whether it is the first of its hour. Sums stay within `Number.MAX_SAFE_INTEGER`. */
export async function addToHour(db: Executor, hour: Date, { outbound, inbound }: BothWays): Promise<boolean> {
  const most = Number.MAX_SAFE_INTEGER;
  const { rows } = await sql<{ first: boolean }>`
    INSERT INTO traffic_hours AS t
    VALUES (${hour}, ${outbound.requests}, ${outbound.sentBytes}, ${outbound.receivedBytes},
            ${inbound.requests}, ${inbound.sentBytes}, ${inbound.receivedBytes})
    ON CONFLICT (hour) DO UPDATE
       SET outbound_requests = LEAST(t.outbound_requests + EXCLUDED.outbound_requests, ${most}),
           outbound_sent = LEAST(t.outbound_sent + EXCLUDED.outbound_sent, ${most}),
           outbound_received = LEAST(t.outbound_received + EXCLUDED.outbound_received, ${most}),
           inbound_requests = LEAST(t.inbound_requests + EXCLUDED.inbound_requests, ${most}),
           inbound_sent = LEAST(t.inbound_sent + EXCLUDED.inbound_sent, ${most}),
           inbound_received = LEAST(t.inbound_received + EXCLUDED.inbound_received, ${most})
    RETURNING xmax = 0 AS first`.execute(db);
  return rows[0]?.first === true;
}

/** Deletes the traffic of all hours that began before this time. */
export async function removeHoursBefore(db: Executor, hour: ProvenTime): Promise<void> {
  await db.deleteFrom('traffic_hours').where('hour', '<', hour).execute();
}

/** Traffic since an hour, by the start of each hour; hours without traffic are left out. */
export async function trafficSince(db: Executor, hour: Date): Promise<Map<number, BothWays>> {
  const rows = await db.selectFrom('traffic_hours').selectAll().where('hour', '>=', hour).execute();
  return new Map(
    rows.map((row) => [
      row.hour.getTime(),
      {
        outbound: totals(row.outbound_requests, row.outbound_sent, row.outbound_received),
        inbound: totals(row.inbound_requests, row.inbound_sent, row.inbound_received),
      },
    ]),
  );
}

function totals(requests: string, sent: string, received: string): TrafficTotals {
  return { requests: Number(requests), sentBytes: Number(sent), receivedBytes: Number(received) };
}

/** The address and load of a node. */
export interface NodeReport {
  readonly name: string;
  readonly inbound_origin: string | null;
  /** Of `BEHIND_NAT`. */
  readonly behind_nat: string | null;
  readonly shared_store: string | null;
  readonly load_cpus: number | null;
  readonly load_memory_mib: number | null;
}

/** Address and load of every node, by name; memory in MiB, `null` where a node has reported none. */
export async function nodeReports(db: Executor): Promise<NodeReport[]> {
  return db
    .selectFrom('nodes as n')
    .select(['name', 'inbound_origin', 'shared_store', 'load_cpus', 'load_memory_mib'])
    .select(sql<string | null>`${sql.raw(BEHIND_NAT)}`.as('behind_nat'))
    .orderBy('name')
    .execute();
}
