// A permission as one sentence, for the shell and the platform's own apps.
import { isCritical, opensSomething, type PermissionId, permissions } from '@platform/contract/permissions';

export { isCritical, opensSomething };

/** What the resources of a permission are called in front of one of them. */
export const RESOURCE_LABELS: Readonly<Record<(typeof permissions)[PermissionId]['resources'], string>> = {
  'notification topics': 'Topic',
  'app ids': 'App',
  'tool names': 'Tool',
  '`<provider>:<model>` patterns': 'Model',
  'secret slot names': 'Secret',
  'https origins': 'Address',
  'collection ids': 'Collection',
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
export function byWeight(
  { id: one }: { readonly id: PermissionId },
  { id: other }: { readonly id: PermissionId },
): number {
  return weight(other) - weight(one) || permissionWords(one).localeCompare(permissionWords(other), 'en');
}

function weight(id: PermissionId): number {
  if (id === 'endpoints.public' || id === 'endpoints.public.udp') return 3;
  if (isCritical(id)) return 2;
  return id === 'network.connect' ? 1 : 0;
}

/** What a permission is for, where that is less than everything: `Topic: news`. */
export function resourceWords(id: PermissionId, resources: readonly string[]): string | null {
  const named = resources.filter((resource) => resource !== '*' && resource !== 'self');
  return named.length === 0 ? null : `${RESOURCE_LABELS[permissions[id].resources]}: ${named.join(', ')}`;
}
