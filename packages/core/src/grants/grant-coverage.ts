// Coverage of grants, in one place and pure: what a grant allows, what exceeds a request, what two lists share.
// All of it comes down to `matchesResource` of the contract.
import { type Grant, matchesResource, type PermissionId } from '@platform/contract';

/** A resource of `granted` that no resource of the request covers; the indexes lead to the member for the caller. */
export interface ExcessGrant {
  readonly id: PermissionId;
  readonly resource: string;
  readonly grantIndex: number;
  readonly resourceIndex: number;
}

type Held = Pick<Grant, 'id'> & { readonly resources: readonly string[] };

/** Whether the grants allow `permissionId` on this resource. */
export function allows(grants: readonly Held[], permissionId: PermissionId, resource: string): boolean {
  return grants.some(
    ({ id, resources }) => id === permissionId && resources.some((pattern) => matchesResource(pattern, resource)),
  );
}

/** The resources, patterns among them, that the grants name for `permissionId`; empty when it is not held. */
export function resourcesOf(grants: readonly Held[], permissionId: PermissionId): string[] {
  return [...new Set(grants.flatMap(({ id, resources }) => (id === permissionId ? resources : [])))];
}

/** Every granted resource that the request does not cover, in the order of `granted`; empty when all are covered. */
export function excessGrants(requested: readonly Held[], granted: readonly Held[]): ExcessGrant[] {
  return granted.flatMap(({ id, resources }, grantIndex) =>
    resources.flatMap((resource, resourceIndex) =>
      allows(requested, id, resource) ? [] : [{ id, resource, grantIndex, resourceIndex }],
    ),
  );
}

/**
 * The form in which grants are stored (contract 3): ids merged, repeated resources dropped, nothing without
 * resources, and nothing but id and resources. Order of first appearance.
 */
export function normaliseGrants(grants: readonly Held[]): Grant[] {
  const ids = [...new Set(grants.map(({ id }) => id))];
  return ids.map((id) => ({ id, resources: resourcesOf(grants, id) })).filter(({ resources }) => resources.length > 0);
}

/**
 * What both lists allow, and no more: for an upgrade, where held grants meet a new request. Of a pair in which one
 * resource covers the other the narrower one stays.
 */
export function intersectGrants(held: readonly Held[], requested: readonly Held[]): Grant[] {
  return normaliseGrants(
    held.map(({ id, resources }) => ({
      id,
      resources: resources.flatMap((one) =>
        resourcesOf(requested, id).flatMap((other) => {
          if (matchesResource(other, one)) return [one];
          return matchesResource(one, other) ? [other] : [];
        }),
      ),
    })),
  );
}
