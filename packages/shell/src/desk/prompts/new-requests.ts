// What a version asks for that the installed one did not, for the review of an upgrade.
import type { PermissionsView, RequestedGrant } from '@platform/contract';
import { covers, resourcesOf } from '../../apps/bridge/grants.ts';

/**
 * The requests as they are reviewed: `endpoints.public` by the routes that it would open, however wide the request is.
 *
 * @param publicRoutes those routes; without any, the permission opens nothing and is left out
 */
export function requestsByRoute(
  requested: readonly RequestedGrant[],
  publicRoutes: readonly string[],
): RequestedGrant[] {
  return requested
    .map((request) => (request.id === 'endpoints.public' ? { ...request, resources: [...publicRoutes] } : request))
    .filter(({ resources }) => resources.length > 0);
}

/**
 * The part of `requested` that the installed version did not request. What a person turned off before is not new. An
 * origin is new unless it was requested by name, as core carries it over by name only.
 */
export function newRequests(
  requested: readonly RequestedGrant[],
  { requested: before }: PermissionsView,
): RequestedGrant[] {
  const named = new Set(resourcesOf(before, 'network.connect'));
  const isNew = (id: RequestedGrant['id'], resource: string) =>
    id === 'network.connect' && !resource.endsWith('*') ? !named.has(resource) : !covers(before, id, resource);
  return requested
    .map((request) => ({ ...request, resources: request.resources.filter((resource) => isNew(request.id, resource)) }))
    .filter(({ resources }) => resources.length > 0);
}
