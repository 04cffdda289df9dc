// The permission identifiers (specification 5.4) and how the permission review puts each into plain words.
// docs/permissions.md is proven equal to this table by a test.

interface PermissionEntry {
  /** Fits after "This app can ". */
  readonly plain: string;
  /** What the resources of such a grant name. */
  readonly resources: string;
  /** Shown with a warning in the review and never pre-approved. */
  readonly critical?: true;
  /** No part of the platform asks for it yet: a grant opens nothing, and no review offers it. */
  readonly unbuilt?: true;
}

export const permissions = {
  'notifications.publish': { plain: 'send you notifications', resources: 'notification topics' },
  'notifications.read': { plain: 'read and mark your notifications', resources: 'notification topics' },
  'apps.catalog.read': { plain: 'see which apps you have installed', resources: '`*`' },
  'apps.create': { plain: 'create private apps for you, through a prompt', resources: '`*`' },
  'apps.install': { plain: 'ask you to install apps', resources: 'app ids' },
  'apps.uninstall': { plain: 'remove apps, keeping their data', resources: 'app ids' },
  'apps.lifecycle': { plain: 'open, start and stop apps', resources: 'app ids' },
  'apps.launcher.register': { plain: 'become your home screen', resources: '`self`' },
  'schedules.manage': { plain: 'see and change your schedules', resources: '`*`' },
  'runtime.status.read': { plain: 'see the state of your running apps', resources: '`*`' },
  'account.profile.read': { plain: 'see your account name', resources: '`self`' },
  'runtime.pause': { plain: 'ask to stop all your apps', resources: '`*`', critical: true },
  'system.inventory.read': {
    plain: 'see the whole system: accounts, nodes and usage',
    resources: '`*`',
    critical: true,
  },
  'wallet.payment.propose': { plain: 'propose payments for your approval', resources: '`*`', unbuilt: true },
  'wallet.policy.propose': { plain: 'propose wallet rules for your approval', resources: '`*`', unbuilt: true },
  'mcp.tools.call': { plain: 'use tools of your other apps', resources: 'tool names', unbuilt: true },
  'mcp.tools.propose': { plain: 'propose tool calls for your approval', resources: 'tool names', unbuilt: true },
  'mcp.tools.serve': { plain: 'offer tools to your other apps', resources: 'tool names', unbuilt: true },
  'intelligence.use': { plain: 'use AI models, within your budget', resources: '`<provider>:<model>` patterns' },
  'secrets.use': { plain: 'use a secret you bind, without seeing it', resources: 'secret slot names' },
  'network.connect': { plain: 'exchange data with outside services', resources: 'https origins' },
  'object-storage.raw': { plain: 'keep files in object storage', resources: '`self`' },
  'files.user.manage': { plain: 'manage your files', resources: '`*`', critical: true, unbuilt: true },
  'content.collections.read': { plain: 'read shared collections', resources: 'collection ids', unbuilt: true },
  'content.collections.write': { plain: 'change shared collections', resources: 'collection ids', unbuilt: true },
  'content.collections.manage': {
    plain: 'manage shared collections and their members',
    resources: 'collection ids',
    unbuilt: true,
  },
  'search.index': { plain: 'add its items to your search', resources: '`self`' },
  'messaging.read': { plain: 'read your messages', resources: '`*`' },
  'messaging.send': { plain: 'send messages as you', resources: '`*`' },
  'messaging.resolve': { plain: 'look up message addresses', resources: '`*`' },
  'endpoints.public': { plain: 'answer requests from the internet', resources: '`METHOD:/path`' },
  'endpoints.public.udp': { plain: 'open a UDP port to the internet', resources: '`UDP:<port>` or `UDP:auto`' },
  'network.public': { plain: 'connect to any address on the internet', resources: '`*`', critical: true },
  'runtime.network-tunnel': { plain: 'use a network tunnel device', resources: '`*`', critical: true },
} as const satisfies Record<string, PermissionEntry>;

export type PermissionId = keyof typeof permissions;

/** Whether an app can request a permission of this id. */
export function isPermissionId(id: string): id is PermissionId {
  return Object.hasOwn(permissions, id);
}

/** Whether a review names it first, and nothing preselects it. */
export function isCritical(id: PermissionId): boolean {
  return 'critical' in permissions[id];
}

/** Whether anything asks for it; a manifest may request it all the same, for a later version of the platform. */
export function opensSomething(id: PermissionId): boolean {
  return !('unbuilt' in permissions[id]);
}
