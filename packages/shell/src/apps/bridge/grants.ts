// Whether a grant snapshot covers a target, by the rule of the contract (`matchesResource`).
// Core decides for its own routes; the shell decides here, because it acts with the session of the person.
import { type Grant, matchesResource, type PermissionId } from '@platform/contract';

/** The resources held for one permission; empty when it is not granted at all. */
export function resourcesOf(grants: readonly Grant[], id: PermissionId): readonly string[] {
  return grants.filter((grant) => grant.id === id).flatMap((grant) => grant.resources);
}

/** Whether one of the resources of a grant covers this one. */
export function coveredBy(resources: readonly string[], resource: string): boolean {
  return resources.some((pattern) => matchesResource(pattern, resource));
}

export function covers(grants: readonly Grant[], id: PermissionId, resource: string): boolean {
  return coveredBy(resourcesOf(grants, id), resource);
}

export function holds(grants: readonly Grant[], id: PermissionId): boolean {
  return resourcesOf(grants, id).length > 0;
}
