// A permission as one sentence, for the shell and the platform's own apps.
import { isCritical, type PermissionId, permissions, type ResourceKind } from '@platform/contract/permissions';

interface Request {
  readonly id: PermissionId;
  readonly resources: readonly string[];
}

/** Whether a review warns of it, and leaves it or a part of it off. */
export function isPowerful({ id, resources }: Request): boolean {
  return resources.some((resource) => isCritical(id, resource));
}

/** What the resources of a permission are called in front of one of them. */
export const RESOURCE_LABELS: Readonly<Record<ResourceKind, string>> = {
  'notification topics': 'Topic',
  'app ids': 'App',
  'tool names': 'Tool',
  '`<provider>:<model>` patterns': 'Model',
  'secret slot names': 'Secret',
  'https origins': 'Address',
  '`<kind>:<id>` patterns': 'Collection',
  '`METHOD:/path`': 'Request',
  '`UDP:<port>` or `UDP:auto`': 'Port',
  '`*`': 'Resource',
  '`self`': 'Resource',
};

/** `Send you notifications` */
export function permissionWords(id: PermissionId): string {
  const { plain } = permissions[id];
  return `${plain[0]?.toUpperCase() ?? ''}${plain.slice(1)}`;
}

/** What weighs most comes first: what strangers reach, what is critical, then what leaves the platform; else by words. */
export function byWeight(one: Request, other: Request): number {
  return weight(other) - weight(one) || permissionWords(one.id).localeCompare(permissionWords(other.id), 'en');
}

function weight(request: Request): number {
  const { id } = request;
  if (id === 'endpoints.public' || id === 'endpoints.public.udp') return 4;
  if (isPowerful(request)) return 3;
  if (id === 'network.public' || id === 'runtime.network-tunnel') return 2;
  return id === 'network.connect' ? 1 : 0;
}

/** What a permission is for, where that is less than everything: `Topic: news`. */
export function resourceWords(id: PermissionId, resources: readonly string[]): string | null {
  const named = resources.filter((resource) => resource !== '*' && resource !== 'self');
  return named.length === 0 ? null : `${RESOURCE_LABELS[permissions[id].resources]}: ${named.join(', ')}`;
}
