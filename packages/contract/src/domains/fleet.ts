// What the operator's own app sees of the whole platform (specification 4.2): aggregates and machines, never who owns
// what, and nothing secret. Its size does not grow with accounts, installations or records.
import * as z from 'zod';
import type { Errors, Limits, Metrics, Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';

const limits = {
  inventoryNodes: {
    value: 200,
    unit: 'items',
    meaning: 'nodes in the system inventory; further ones are only counted',
  },
  inventoryLabels: { value: 200, unit: 'items', meaning: 'labels of nodes in the system inventory' },
  inventoryApps: {
    value: 50,
    unit: 'items',
    meaning: 'apps in the system inventory, those with the most installations',
  },
} as const satisfies Limits;

const errors = {
  master_account_only: {
    status: 403,
    title: 'Only the master account may do this.',
    help: 'The operator names the master account with `./platform account operator` or PLATFORM_MASTER_ACCOUNT.',
  },
} as const satisfies Errors;

const metrics = {
  platform_core_clock_held: {
    type: 'gauge',
    labels: [],
    meaning: '1 while a clock that jumped or differs holds everything that deletes or ends by age, else 0.',
  },
} as const satisfies Metrics;

const counted = z.int().min(0);

/** What went through Gateways. Bytes are seen from the workloads: sent is what left them. */
export const trafficTotals = z.strictObject({ requests: counted, sentBytes: counted, receivedBytes: counted });
export type TrafficTotals = z.infer<typeof trafficTotals>;

/** `outbound`: requests of workloads to services of the platform; `inbound`: of browsers and native clients to them. */
export const trafficBothWays = z.strictObject({ outbound: trafficTotals, inbound: trafficTotals });

/** What a machine is busy with, whatever runs there. */
export const machineLoad = z.strictObject({
  /** Processors' worth of work that ran or waited, on average over the last minute. */
  cpus: z.number().min(0).max(1_000_000),
  memoryUsedMiB: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
});
export type MachineLoad = z.infer<typeof machineLoad>;

const inventoryNode = z.strictObject({
  name: z.string(),
  state: z.enum(['ready', 'cordoned', 'lost', 'joining']),
  /** In one process with a core. */
  local: z.boolean(),
  labels: z.array(z.string()),
  version: z.string().nullable(),
  driver: z.string().nullable(),
  /** What confines workloads there, in words. */
  mechanism: z.string().nullable(),
  /**
   * What carries core's connections to it: `tls` directly, `iroh` over a connection that it keeps. `null` for the machine of
   * core itself, and before it has registered.
   */
  carrier: z.enum(['tls', 'iroh']).nullable(),
  seenAt: timestamp.nullable(),
  /** What it offers to workloads; `null` before it has said so. */
  cpus: z.number().nullable(),
  memoryMiB: counted.nullable(),
  /** Memory of workloads that never sleep, and of all that are placed there. */
  reservedMiB: counted,
  placedMiB: counted,
  /** Disk for volumes; `null` where the node does not say. What they were promised of it, however much is in them. */
  diskMiB: counted.nullable(),
  diskPromisedMiB: counted,
  /** Only the reserve is left: backends with a volume are stopped there. */
  diskFull: z.boolean(),
  installations: counted,
  running: counted,
  /** `null` where the node does not say. */
  load: machineLoad.nullable(),
});

const inventoryApp = z.strictObject({
  appId: z.string(),
  name: z.string(),
  installations: counted,
  running: counted,
  failed: counted,
});

/** Figures of large tables are exact up to 100,000 and estimates of the database beyond that. */
export const systemInventory = z.strictObject({
  accounts: z.strictObject({
    total: counted,
    paused: counted,
    suspended: counted,
    /** With a session that was used in the last 30 days. */
    active: counted,
    /** Sessions that have not ended. */
    sessions: counted,
    /** New accounts of the last 30 days, each 24 hours up to now, the oldest first. */
    registered: z.array(counted).length(30),
  }),
  nodes: z.strictObject({
    total: counted,
    /** By name. */
    items: z.array(inventoryNode).max(limits.inventoryNodes.value),
  }),
  /** Of all nodes that take workloads. */
  capacity: z.strictObject({
    cpus: z.number(),
    memoryMiB: counted,
    reservedMiB: counted,
    placedMiB: counted,
    diskMiB: counted,
    diskPromisedMiB: counted,
    /** Installations with a backend that no node has room for. */
    waiting: counted,
  }),
  installations: z.strictObject({
    total: counted,
    /** With a backend, by its state; `unknown` has not been reported yet. */
    states: z.strictObject({
      running: counted,
      starting: counted,
      stopped: counted,
      failed: counted,
      unknown: counted,
    }),
    /** Installed apps, and those with the most installations. */
    apps: counted,
    largest: z.array(inventoryApp).max(limits.inventoryApps.value),
  }),
  traffic: z.strictObject({
    /** The last 24 hours of the clock, the oldest first; the last one goes on. */
    hours: z.array(trafficBothWays.extend({ at: timestamp })).length(24),
  }),
  topology: z.strictObject({
    /** Where the shell and the API are, the domain of frontends, and the version of core. */
    origin: z.string(),
    appsDomain: z.string(),
    version: z.string(),
    /** Why nothing is deleted by age at the moment, and what to do; `null` while clocks agree. */
    clock: z.string().nullable(),
    /** Where browsers and native clients reach the backends of a node. */
    endpoints: z
      .array(z.strictObject({ node: z.string(), origin: z.string().nullable(), sharesVolumes: z.boolean() }))
      .max(limits.inventoryNodes.value),
    labels: z
      .array(
        z.strictObject({
          label: z.string(),
          nodes: counted,
          /** Keeps its nodes for backends of which the operator demands it. */
          reserved: z.boolean(),
        }),
      )
      .max(limits.inventoryLabels.value),
  }),
  usage: z.strictObject({
    databaseBytes: counted,
    packages: z.strictObject({ versions: counted, bytes: counted }),
    /** Apps whose data lies in a volume, removed ones included. */
    volumes: counted,
    notifications: counted,
    searchEntries: counted,
    /** Leases that keep a backend awake now. */
    workLeases: counted,
  }),
});
export type SystemInventory = z.infer<typeof systemInventory>;

const routes = {
  'services.system.read': {
    method: 'GET',
    path: '/v1/services/system',
    summary: 'Inventory of the whole platform, for an app of the master account',
    callers: ['installation', 'frontend'],
    grant: { id: 'system.inventory.read', resource: '*' },
    answers: { 200: systemInventory },
    refuses: ['master_account_only'],
    rate: 'service',
  },
} as const satisfies Routes;

export const fleet = { limits, errors, metrics, routes } as const;
