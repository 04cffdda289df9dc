// Nodes in the operator's inventory: resources, labels, the origin for browsers, and the traffic of their Gateways. The
// address at which core reaches a node is not disclosed.
import { limits, type SystemInventory, type TrafficTotals } from '@platform/contract';
import type { Kysely } from 'kysely';
import type { CoreConfig } from '../config/config.ts';
import { endpointOrigin } from '../config/node-origin.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { listNodeRows, type NodeRow } from './manage-queries.ts';
import { shownHours } from './traffic.ts';
import { type NodeReport, nodeReports, trafficSince } from './traffic-queries.ts';

type Executor = Kysely<DatabaseSchema>;

export interface NodeInventory extends Pick<SystemInventory, 'nodes' | 'traffic'> {
  readonly capacity: Omit<SystemInventory['capacity'], 'waiting'>;
  readonly topology: Pick<SystemInventory['topology'], 'endpoints' | 'labels'>;
}

/** Nodes, their capacity and their traffic, for the inventory of the operator. */
export async function nodeInventory(db: Executor, now: Date, config: CoreConfig): Promise<NodeInventory> {
  const rows = await listNodeRows(db);
  const reports = new Map((await nodeReports(db)).map((report) => [report.name, report]));
  const shown = rows.slice(0, limits.inventoryNodes.value);
  return {
    nodes: { total: rows.length, items: shown.map((row) => nodeItem(row, reports.get(row.name))) },
    capacity: capacityOf(rows.filter(({ state }) => state === 'ready')),
    traffic: await lastHours(db, now),
    topology: {
      endpoints: shown.map(({ name, shared_store }) => ({
        node: name,
        origin: originOf(reports.get(name), config),
        sharesVolumes: shared_store !== null,
      })),
      labels: labelsOf(rows),
    },
  };
}

function originOf(report: NodeReport | undefined, config: CoreConfig): string | null {
  const { behind_nat = null, inbound_origin = null } = report ?? {};
  return behind_nat === null ? inbound_origin : endpointOrigin(config, behind_nat);
}

function nodeItem(row: NodeRow, report: NodeReport | undefined): SystemInventory['nodes']['items'][number] {
  const { load_cpus: cpus = null, load_memory_mib: memoryUsedMiB = null } = report ?? {};
  return {
    name: row.name,
    state: row.state,
    local: row.local,
    labels: row.labels,
    version: row.version,
    driver: row.driver,
    mechanism: row.mechanism,
    carrier: row.carrier,
    seenAt: row.seen_at?.toISOString() ?? null,
    cpus: row.cpus,
    memoryMiB: row.memory_mib,
    reservedMiB: row.reserved_mib,
    placedMiB: row.placed_mib,
    diskMiB: row.disk_mib,
    diskPromisedMiB: row.disk_promised_mib,
    diskFull: row.disk_full,
    installations: row.apps,
    running: row.running,
    load: cpus === null || memoryUsedMiB === null ? null : { cpus, memoryUsedMiB },
  };
}

function capacityOf(ready: readonly NodeRow[]): NodeInventory['capacity'] {
  const sum = (figure: (row: NodeRow) => number | null) => ready.reduce((all, row) => all + (figure(row) ?? 0), 0);
  return {
    cpus: sum(({ cpus }) => cpus),
    memoryMiB: sum(({ memory_mib }) => memory_mib),
    reservedMiB: sum(({ reserved_mib }) => reserved_mib),
    placedMiB: sum(({ placed_mib }) => placed_mib),
    diskMiB: sum(({ disk_mib }) => disk_mib),
    diskPromisedMiB: sum(({ disk_promised_mib }) => disk_promised_mib),
  };
}

function labelsOf(rows: readonly NodeRow[]): SystemInventory['topology']['labels'] {
  const reserved = new Set(rows.flatMap((row) => row.reserved));
  const nodes = new Map<string, number>();
  for (const label of rows.flatMap(({ labels }) => labels)) nodes.set(label, (nodes.get(label) ?? 0) + 1);
  return [...nodes]
    .map(([label, count]) => ({ label, nodes: count, reserved: reserved.has(label) }))
    .sort((one, other) => (one.label < other.label ? -1 : 1))
    .slice(0, limits.inventoryLabels.value);
}

const none: TrafficTotals = { requests: 0, sentBytes: 0, receivedBytes: 0 };

async function lastHours(db: Executor, now: Date): Promise<SystemInventory['traffic']> {
  const hours = shownHours(now);
  const counted = await trafficSince(db, hours[0] ?? now);
  return {
    hours: hours.map((hour) => ({
      at: hour.toISOString(),
      ...(counted.get(hour.getTime()) ?? { outbound: none, inbound: none }),
    })),
  };
}
