// The internet address of an installed app, as its owner sees it: its hostname, which routes and ports are open, and what
// came today (contract 4e). No launch and no login says any of it.
import {
  grantedWorkload,
  type PublicAddress,
  type PublicPort,
  type PublicPortState,
  type PublicRequests,
  type PublicRouteStatus,
  refuse,
  routeState,
} from '@platform/contract';
import { publicHostname } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { changing } from '../database/changing.ts';
import { allows, resourcesOf } from '../grants/grant-coverage.ts';
import { assignmentsRevoked, selectPorts, type UdpPortRow } from '../placement/face.ts';
import { type PublicFacts, selectPublicFacts, selectPublicRequests } from './public-queries.ts';
import { lockOwn, type OwnInstallation, selectOwn } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function readPublicAddress(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<PublicAddress> {
  const installation = await selectOwn(context.database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found');
  const facts = await selectPublicFacts(context.database, installation.id);
  const { config } = context;
  const hostname = facts.label === null ? null : publicHostname(config, appId, facts.label);
  const { scheme, port } = config.ingressOrigin;
  const runs = mayRun(installation, facts);
  const reported = await selectPorts(context.database, installation.id);
  return {
    hostname,
    url: hostname === null ? null : `${scheme}://${hostname}${port}`,
    routes: (installation.manifest.publicEndpoints ?? []).map((endpoint) => routeOf(endpoint, installation, runs)),
    ports: (installation.manifest.publicPorts ?? []).map((declared) =>
      portOf(declared, installation, { reported, runs }),
    ),
  };
}

/**
 * Gives an app another hostname. When the answer is there, the former one is gone from every Ingress and from the Gateway,
 * and what was under way through it has ended: or two seconds have passed.
 *
 * @throws RefusalError `not_found`, also for an app without public routes
 */
export async function renewPublicAddress(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<PublicAddress> {
  await changing(context, async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    if ((installation.manifest.publicEndpoints ?? []).length === 0)
      throw refuse('not_found', 'This app has no public routes.');
    const touched = { context, installations: [installation.id], renew: true } as const;
    await assignmentsRevoked(context, trx, { nodes: [installation.node_id], touched });
  });
  return readPublicAddress(context, accountKey, appId);
}

/** @throws RefusalError `not_found` */
export async function readPublicRequests(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<PublicRequests> {
  const installation = await selectOwn(context.database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found');
  const day = context.clock().toISOString().slice(0, 10);
  const rows = await selectPublicRequests(context.database, installation.id, day);
  const { passed = 0, ...refused } = Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
  return { day, requests: passed, refused };
}

function mayRun({ manifest, resources, stopped }: OwnInstallation, { halted }: PublicFacts): boolean {
  return grantedWorkload(manifest.workload, resources) !== undefined && !stopped && !halted;
}

function routeOf(endpoint: string, { grants }: OwnInstallation, runs: boolean): PublicRouteStatus {
  const colon = endpoint.indexOf(':');
  const state = routeState(endpoint, resourcesOf(grants, 'endpoints.public'));
  return {
    method: endpoint.slice(0, colon),
    path: endpoint.slice(colon + 1),
    state: state !== 'not-granted' && !runs ? 'no-backend' : state,
  };
}

function portOf(
  { name, protocol, containerPort }: PublicPort,
  { grants }: OwnInstallation,
  { reported, runs }: { readonly reported: readonly UdpPortRow[]; readonly runs: boolean },
): PublicPortState {
  const granted = allows(grants, 'endpoints.public.udp', `UDP:${containerPort}`);
  const port = granted ? reported.find((one) => one.name === name) : undefined;
  const closed = port?.closed ?? null;
  return {
    name,
    protocol,
    containerPort: port?.container_port ?? (containerPort === 'auto' ? null : containerPort),
    host: port?.host ?? null,
    hostPort: port?.host_port ?? null,
    ...(closed === null ? {} : { closed }),
    state: portState({ granted, runs, open: port !== undefined && closed === null }),
  };
}

function portState(port: {
  readonly granted: boolean;
  readonly runs: boolean;
  readonly open: boolean;
}): PublicPortState['state'] {
  if (!port.granted) return 'not-granted';
  if (!port.runs) return 'no-backend';
  return port.open ? 'open' : 'closed';
}
