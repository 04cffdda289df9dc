// What the security rating of an app is made of in a review: what it has now, and what it would have.
import {
  type BackendResources,
  type CatalogDetail,
  carriedResources,
  type Grant,
  grantsBackend,
  matchesResource,
  type PermissionsView,
} from '@platform/contract';
import { type RatedApp, type SecurityRating, securityRating } from '@platform/contract/security-rating';
import { grantsAfterReview, joinGrants } from './narrowing.ts';
import { newRequests } from './new-requests.ts';

type Version = Pick<CatalogDetail, 'permissions' | 'backend' | 'resources'>;

/** A version with what of it the person leaves on. */
export function chosenRating({ backend, resources }: Version, permissions: readonly Grant[]): SecurityRating {
  return securityRating({ permissions, backend: running(backend?.runtime, resources) });
}

/** An installed app with what it was granted. */
export function presentRating(
  { resources }: Pick<PermissionsView, 'resources'>,
  permissions: readonly Grant[],
): SecurityRating {
  return securityRating({ permissions, backend: running(resources?.runtime, resources?.granted ?? null) });
}

interface Allowed {
  /** Of the new requests. */
  readonly permissions: readonly Grant[];
  readonly acceptResources: boolean;
}

/**
 * After an update: what it holds as far as the version asks for it, held from former versions too, without what the review shows as new
 * and the person does not allow.
 */
export function updatedRating(
  { permissions: requested, backend, resources }: Version,
  held: PermissionsView,
  { permissions, acceptResources }: Allowed,
): SecurityRating {
  const kept = joinGrants(held.permissions, held.setAside).map(({ id, resources: ones }) => ({
    id,
    resources: ones.flatMap((one) => narrowed(one, requested.find((request) => request.id === id)?.resources ?? [])),
  }));
  const granted = held.resources?.granted ?? null;
  const carried = granted === null || resources === null ? null : carriedResources(granted, resources);
  return securityRating({
    permissions: grantsAfterReview(kept, { held, shown: newRequests(requested, held), chosen: permissions }),
    backend: running(backend?.runtime, acceptResources ? resources : carried),
  });
}

/** As core does it at a change of version: of a pair in which one covers the other, the narrower. */
function narrowed(held: string, requested: readonly string[]): string[] {
  return requested.flatMap((one) => {
    if (matchesResource(one, held)) return [held];
    return matchesResource(held, one) ? [one] : [];
  });
}

function running(runtime: string | undefined, resources: BackendResources | null): RatedApp['backend'] {
  if (runtime === undefined || resources === null || !grantsBackend(resources)) return null;
  return { runtime, mode: resources.mode };
}
