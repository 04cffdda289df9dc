// The assignments of a node with their revision, and the long poll for the next one.
import { type Assignment, type Assignments, grantedWorkload, refuse } from '@platform/contract';
import { publicKeyText } from '@platform/link';
import { appOrigin, endpointHostname } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { dataPlaneCapability } from '../credentials/master-key.ts';
import { awaitChange } from '../events/await-change.ts';
import type { RouteCall } from '../http/handlers.ts';
import type { NodeCaller } from '../nodes/face.ts';
import type { Policies, Policy } from '../policy.ts';
import { type AssignmentRow, selectAssignments, selectIngressLinks } from './queries.ts';

/** A node asks again after this long without a change; shorter than what proxies cut. */
const LONGEST_WAIT_MILLISECONDS = 25_000;

/**
 * The assignments of a node as soon as their revision differs from `after`, or as they are when the wait ends: after
 * 25 s, when core stops, or when the client disconnected.
 *
 * @throws RefusalError `unauthenticated` when the node got another credential meanwhile
 */
export function awaitAssignments(
  context: CoreContext,
  { caller, left }: Pick<RouteCall<'node.assignments'>, 'caller' | 'left'>,
  after: string | undefined,
): Promise<Assignments> {
  return awaitChange(context, {
    // Reading refuses a credential that has ended, in the same statement.
    call: { caller, left, stillAllowed: async () => caller },
    wakeOn: [{ signal: 'assignments-changed' }],
    longestMilliseconds: LONGEST_WAIT_MILLISECONDS,
    async read(node) {
      const { credentialHolds, ...current } = await readAssignments(context, node);
      if (!credentialHolds) throw refuse('unauthenticated', 'The credential of this node was replaced.');
      return current;
    },
    isNews: ({ revision }) => revision !== after,
  });
}

async function readAssignments(
  context: CoreContext,
  node: Pick<NodeCaller, 'nodeId' | 'credentialHash'>,
): Promise<Assignments & { readonly credentialHolds: boolean }> {
  const { rows, servesPublic, behindNat, ...current } = await selectAssignments(context.database, node);
  // After the revision, which every change of them raises.
  await context.settings.read();
  const items = rows.flatMap((row) => assignmentOf(context, row, servesPublic) ?? []);
  // Read after the revision, which every change of them raises.
  const ingresses = servesPublic ? await ingressMembers(context) : {};
  const endpoints = behindNat === null ? {} : { endpointHost: endpointHostname(context.config, behindNat) };
  return { ...current, items, ...ingresses, ...endpoints };
}

async function ingressMembers({
  database,
}: Pick<CoreContext, 'database'>): Promise<Pick<Assignments, 'ingressKeys' | 'ingressLinks'>> {
  const ingresses = await selectIngressLinks(database);
  const ingressKeys = ingresses.map(({ public_key }) => publicKeyText(public_key));
  const ingressLinks = ingresses.flatMap(({ link }) => link ?? []);
  // Nodes of former versions refuse members that they do not know.
  return ingressLinks.length === 0 ? { ingressKeys } : { ingressKeys, ingressLinks };
}

function assignmentOf(
  { config, masterKey, policies }: CoreContext,
  row: AssignmentRow,
  servesPublic: boolean,
): Assignment | undefined {
  const inForce = grantedWorkload(row.workload, row.resources);
  if (inForce === undefined) return undefined;
  // Core alone calls them, and nodes of former versions refuse members that they do not know.
  const { triggers: _triggers, ...workload } = inForce;
  const { udpPorts, gateway, ...allowed } = policyOf(policies, row, servesPublic);
  return {
    installationId: row.id,
    appId: row.app_id,
    appOrigin: appOrigin(config, row.app_id, row.host_label),
    endpointId: row.endpoint_id,
    ...(row.asks_capabilities
      ? { clientsRevision: row.clients_revision }
      : { dataPlaneCapability: dataPlaneCapability(masterKey, row.id, row.generation) }),
    desired: row.halted ? 'stopped' : workload.mode,
    paused: row.paused,
    packageHash: row.package_hash,
    version: row.version,
    workload,
    ...allowed,
    udpPorts: udpPorts.map((port) => withFormerNumber(port, row.former_ports)),
    gateway: { revision: row.grants_revision, ...gateway },
    ...(row.movable ? { movable: true } : {}),
    ...(row.volume_store === null ? {} : { volumeStore: row.volume_store }),
  };
}

function policyOf(policies: Policies, row: AssignmentRow, servesPublic: boolean): Policy {
  const { app_id: appId, grants, barred, plan, labels, public_label: publicLabel } = row;
  const manifest = {
    publicEndpoints: row.public_endpoints ?? [],
    publicPorts: row.public_ports ?? [],
    secretSlots: row.secret_slots ?? [],
  };
  const bindings = row.bindings ?? [];
  return policies.of({ appId, grants, manifest }, { barred, plan, labels, servesPublic, publicLabel, bindings });
}

/** A wish for the node: clients know the number. Without one the member is absent, as nodes of former versions take it. */
function withFormerNumber(
  port: Assignment['udpPorts'][number],
  former: AssignmentRow['former_ports'],
): Assignment['udpPorts'][number] {
  const hostPort = former !== null && Object.hasOwn(former, port.name) ? former[port.name] : undefined;
  return hostPort === undefined ? port : { ...port, hostPort };
}
