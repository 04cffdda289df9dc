// The assignments of a node with their revision, and the long poll for the next one.
import {
  type Assignment,
  type Assignments,
  type GatewayPolicy,
  grantedWorkload,
  openRoutes,
  refuse,
} from '@platform/contract';
import { publicKeyText } from '@platform/link';
import type { Kysely } from 'kysely';
import { appOrigin, endpointHostname, publicHostname } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { dataPlaneCapability } from '../credentials/master-key.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { awaitChange } from '../events/await-change.ts';
import { intelligenceForNode } from '../grants/assigned-providers.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { RouteCall } from '../http/handlers.ts';
import type { Change } from '../members/followers.ts';
import type { NodeCaller } from '../nodes/face.ts';
import { routesChanged, type Touched } from '../topology/face.ts';
import { grantsForNode } from './network-grants.ts';
import { storeOrigin, whyNoStorage } from './offers-storage.ts';
import { type AssignmentRow, raiseRevision, selectAssignments, selectIngressLinks } from './queries.ts';
import { usableSlots } from './usable-slots.ts';

/** A node asks again after this long without a change; shorter than what proxies cut. */
const LONGEST_WAIT_MILLISECONDS = 25_000;

/**
 * Notifies nodes that an installation with a workload came, went or changed, and Ingresses where that changed a public
 * name. Call it last in the transaction: it takes the locks of both revisions, in this order, so that no reader sees a
 * later revision before an earlier change. Returns the new revisions.
 *
 * @param touched whose public names it may change; `null` for a change that concerns none
 */
export async function assignmentsChanged(
  trx: Kysely<DatabaseSchema>,
  touched: Touched | null,
): Promise<Omit<Change, 'nodeIds'>> {
  const revision = await raiseRevision(trx);
  await notify(trx, 'assignments-changed', {});
  return { revision, topology: touched === null ? null : await routesChanged(trx, touched) };
}

/** The same for changes of installations on these nodes; `null` stands for one that is on none. */
export async function assignmentsChangedOn(
  trx: Kysely<DatabaseSchema>,
  nodes: readonly (string | null)[],
): Promise<Change | null> {
  const nodeIds = [...new Set(nodes)].filter((id) => id !== null);
  return nodeIds.length === 0 ? null : { nodeIds, ...(await assignmentsChanged(trx, null)) };
}

/**
 * The assignments of a node as soon as their revision differs from `after`, or as they are when the wait ends: after
 * 25 s, when core stops, or when the client disconnected.
 *
 * @throws RefusalError `unauthenticated` when the node got another credential meanwhile
 */
export function awaitAssignments(
  context: CoreContext,
  { caller, reply }: Pick<RouteCall<'node.assignments'>, 'caller' | 'reply'>,
  after: string | undefined,
): Promise<Assignments> {
  return awaitChange(context, {
    // Reading refuses a credential that has ended, in the same statement.
    call: { caller, reply, stillAllowed: async () => caller },
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
  { config, masterKey, intelligence, rates }: CoreContext,
  row: AssignmentRow,
  servesPublic: boolean,
): Assignment | undefined {
  const inForce = grantedWorkload(row.workload, row.resources);
  if (inForce === undefined) return undefined;
  // Core alone calls them, and nodes of former versions refuse members that they do not know.
  const { triggers: _triggers, ...workload } = inForce;
  const providers = intelligenceForNode(row.grants, intelligence.settings);
  const offersStorage = whyNoStorage(config, row) === null;
  const granted = grantsForNode(row.grants, row.public_ports ?? [], offersStorage);
  const slots = usableSlots(row.grants, { secretSlots: row.secret_slots ?? [] }, row.bindings ?? []);
  const store = granted.objectStorage ? storeOrigin(config) : null;
  const privateOrigins = [...new Set([...providers.origins, ...(store === null ? [] : [store])])];
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
    ...granted,
    udpPorts: granted.udpPorts.map((port) => withFormerNumber(port, row.former_ports)),
    ...providers.assignment,
    gateway: {
      revision: row.grants_revision,
      // Calls under way end before a backend that is being stopped does.
      ...(row.barred
        ? {}
        : {
            ...providers.policy,
            ...(Object.keys(slots).length === 0 ? {} : { outbound: slots }),
            ...(granted.objectStorage ? { objectStorage: true, objectStorageRate: rates.objectStorage } : {}),
            ...(servesPublic ? publicPolicy(config, row) : {}),
            ...(privateOrigins.length === 0 ? {} : { privateOrigins }),
          }),
    },
    ...(row.movable ? { movable: true } : {}),
    ...(row.volume_store === null ? {} : { volumeStore: row.volume_store }),
  };
}

/** A wish for the node: clients know the number. Without one the member is absent, as nodes of former versions take it. */
function withFormerNumber(
  port: Assignment['udpPorts'][number],
  former: AssignmentRow['former_ports'],
): Assignment['udpPorts'][number] {
  const hostPort = former !== null && Object.hasOwn(former, port.name) ? former[port.name] : undefined;
  return hostPort === undefined ? port : { ...port, hostPort };
}

/** What the topology says of it as well. */
function publicPolicy(config: CoreContext['config'], row: AssignmentRow): Pick<GatewayPolicy, 'public'> {
  const routes = openRoutes(row.public_endpoints ?? [], resourcesOf(row.grants, 'endpoints.public'));
  if (row.public_label === null || routes.length === 0) return {};
  return { public: { hostname: publicHostname(config, row.app_id, row.public_label), routes } };
}
