// The permission identifiers (specification 5.4) and how the permission review puts each into plain words.
// docs/permissions.md is proven equal to this table by a test. Free of zod, for the pages that bundle it.
import type { SystemRole } from './domain.ts';

interface PermissionEntry {
  /** Fits after "This app can ". */
  readonly plain: string;
  /** What the resources of such a grant name. */
  readonly resources: string;
  /**
   * Nobody gives it away unasked: reviews leave it off with a warning, and an installation that names no permissions goes
   * without it. Of all its resources, or of those listed.
   */
  readonly critical?: true | readonly string[];
  /** Only an app that comes with the platform and bears this role can request it. */
  readonly systemRole?: SystemRole;
  /** The part of an app that can use it; absent for both. */
  readonly part?: 'frontend' | 'workload';
}

/** The kinds of resources that are one alone. */
const ALL = '`*`';
const SELF = '`self`';

export const permissions = {
  'notifications.publish': { plain: 'send you notifications', resources: 'notification topics' },
  'notifications.read': { plain: 'read and mark your notifications', resources: 'notification topics' },
  'apps.catalog.read': { plain: 'see which apps you have installed', resources: 'app ids' },
  'apps.create': {
    plain: 'create private apps for you, through a prompt, and see their logs and errors',
    resources: ALL,
    critical: true,
  },
  'apps.install': { plain: 'ask you to install apps', resources: 'app ids', part: 'frontend' },
  'apps.uninstall': { plain: 'remove apps, keeping their data', resources: 'app ids', part: 'frontend' },
  'apps.lifecycle': { plain: 'open, start and stop apps', resources: 'app ids', part: 'frontend' },
  'apps.launcher.register': { plain: 'become your home screen', resources: SELF, part: 'frontend' },
  'schedules.manage': {
    plain: 'see and change your schedules',
    resources: ALL,
    systemRole: 'schedules.manager-ui',
  },
  'runtime.status.read': { plain: 'see the state of your running apps', resources: 'app ids', part: 'frontend' },
  'account.profile.read': { plain: 'see your account name', resources: SELF, part: 'frontend' },
  'runtime.pause': { plain: 'ask to stop all your apps', resources: ALL, critical: true, part: 'frontend' },
  'system.inventory.read': {
    plain: 'see the whole system: accounts, nodes and usage',
    resources: ALL,
    critical: true,
  },
  'wallet.payment.propose': {
    plain: 'propose payments for your approval',
    resources: ALL,
    critical: true,
  },
  'wallet.policy.propose': {
    plain: 'propose wallet rules for your approval',
    resources: ALL,
    critical: true,
  },
  'mcp.tools.call': {
    plain: 'use tools of your other apps',
    resources: 'tool names',
    critical: ['*'],
  },
  'mcp.tools.propose': { plain: 'propose tool calls for your approval', resources: 'tool names' },
  'mcp.tools.serve': { plain: 'offer tools to your other apps', resources: SELF, part: 'workload' },
  'intelligence.use': {
    plain: 'use AI models, within your budget',
    resources: '`<provider>:<model>` patterns',
    part: 'workload',
  },
  'secrets.use': {
    plain: 'use a secret you bind, without seeing it',
    resources: 'secret slot names',
    part: 'workload',
  },
  'network.connect': { plain: 'exchange data with outside services', resources: 'https origins' },
  'object-storage.raw': { plain: 'keep files in object storage', resources: SELF, part: 'workload' },
  'files.user.manage': {
    plain: 'manage your files',
    resources: ALL,
    critical: true,
    systemRole: 'files.user-manager',
  },
  'content.collections.read': { plain: 'read shared collections', resources: '`<kind>:<id>` patterns' },
  'content.collections.write': {
    plain: 'change shared collections',
    resources: '`<kind>:<id>` patterns',
  },
  'content.collections.manage': {
    plain: 'manage shared collections and their members',
    resources: '`<kind>:<id>` patterns',
  },
  'search.index': { plain: 'add its items to your search', resources: SELF },
  'messaging.read': { plain: 'read your messages', resources: ALL, critical: true },
  'messaging.send': { plain: 'send messages as you', resources: ALL, critical: true },
  'messaging.resolve': { plain: 'look up message addresses', resources: ALL, critical: true },
  'endpoints.public': { plain: 'answer requests from the internet', resources: '`METHOD:/path`', part: 'workload' },
  'endpoints.public.udp': {
    plain: 'open a UDP port to the internet',
    resources: '`UDP:<port>` or `UDP:auto`',
    part: 'workload',
  },
  'network.public': { plain: 'connect to any address on the internet', resources: ALL, part: 'workload' },
  'runtime.network-tunnel': { plain: 'use a network tunnel device', resources: ALL, part: 'workload' },
} as const satisfies Record<string, PermissionEntry>;

export type PermissionId = keyof typeof permissions;
/** What the resources of a permission name. */
export type ResourceKind = (typeof permissions)[PermissionId]['resources'];

const entryOf = (id: PermissionId): PermissionEntry => permissions[id];

/** Whether an app can request a permission of this id. */
export function isPermissionId(id: string): id is PermissionId {
  return Object.hasOwn(permissions, id);
}

/** On which resources a permission is critical. */
export function criticalResources(id: PermissionId): 'all' | readonly string[] {
  const { critical = [] } = entryOf(id);
  return critical === true ? 'all' : critical;
}

/** Whether a review names the grant first and leaves it off, and nobody gets it without naming it. */
export function isCritical(id: PermissionId, resource: string): boolean {
  const critical = criticalResources(id);
  return critical === 'all' || critical.includes(resource);
}

interface Named {
  readonly id: PermissionId;
  readonly resources: readonly string[];
}

/** What of these is granted where a person has chosen nothing: all but what is critical. */
export function withoutCritical<Request extends Named>(requested: readonly Request[]) {
  return requested.map((request) => ({
    ...request,
    resources: request.resources.filter((resource) => !isCritical(request.id, resource)),
  }));
}

/** The resource of a permission that knows one alone; publishing refuses others. */
export function onlyResource(id: PermissionId): '*' | 'self' | null {
  const { resources } = entryOf(id);
  if (resources === ALL) return '*';
  return resources === SELF ? 'self' : null;
}

/** The role that an app needs to request it; publishing refuses it without. */
export function requiredRole(id: PermissionId): SystemRole | undefined {
  return entryOf(id).systemRole;
}

/** The part of an app that can use it, if not both. */
export function partUsing(id: PermissionId): 'frontend' | 'workload' | undefined {
  return entryOf(id).part;
}
