// The choices of a permission review: what an app requested, and what of it the person leaves checked.
import {
  type Grant,
  type PermissionId,
  type PermissionsView,
  type RequestedGrant,
  withoutCritical,
} from '@platform/contract';
import { covers } from '../../apps/bridge/grants.ts';
import { newRequests } from './new-requests.ts';

/** For each requested permission the resources that are checked. */
export type Choice = ReadonlyMap<PermissionId, ReadonlySet<string>>;

/** What core grants where nothing is chosen: all but critical permissions, which a person has to turn on one by one. */
export function proposedChoice(requested: readonly RequestedGrant[]): Choice {
  return new Map(withoutCritical(requested).map(({ id, resources }) => [id, new Set(resources)]));
}

/** What is granted now, as a choice within the request; a grant narrower than any requested resource keeps its own. */
export function presentChoice(requested: readonly RequestedGrant[], granted: readonly Grant[]): Choice {
  return new Map(
    requested.map(({ id }) => [
      id,
      new Set(granted.filter((grant) => grant.id === id).flatMap((grant) => grant.resources)),
    ]),
  );
}

/** The resources to offer for a permission: those requested, and those granted in a narrower form than requested. */
export function offeredResources(requested: RequestedGrant, chosen: ReadonlySet<string>): readonly string[] {
  return [...new Set([...requested.resources, ...chosen])];
}

export function withPermission(choice: Choice, requested: RequestedGrant, granted: boolean): Choice {
  return new Map([...choice, [requested.id, new Set(granted ? requested.resources : [])]]);
}

export function withResource(choice: Choice, id: PermissionId, resource: string, granted: boolean): Choice {
  const resources = new Set(choice.get(id) ?? []);
  if (granted) resources.add(resource);
  else resources.delete(resource);
  return new Map([...choice, [id, resources]]);
}

/** The grants to send; a permission without a resource is not granted at all. */
export function grantsOf(choice: Choice): readonly Grant[] {
  return [...choice]
    .filter(([, resources]) => resources.size > 0)
    .map(([id, resources]) => ({ id, resources: [...resources] }));
}

/** Both lists as one, each permission once. */
export function joinGrants(one: readonly Grant[], other: readonly Grant[]): Grant[] {
  const all = [...one, ...other];
  return [...new Set(all.map(({ id }) => id))].map((id) => ({
    id,
    resources: [...new Set(all.filter((grant) => grant.id === id).flatMap(({ resources }) => resources))],
  }));
}

export interface Reviewed {
  /** Of the installed version, before the review. */
  readonly held: PermissionsView;
  /** What the review showed as new. */
  readonly shown: readonly RequestedGrant[];
  /** What of it was left checked. */
  readonly chosen: readonly Grant[];
}

/**
 * What an app holds after the review of a version: what it kept, and what was chosen. A permission that a version before the installed
 * one held comes back by itself, but not where it was shown and left unchecked.
 */
export function grantsAfterReview(kept: readonly Grant[], { held, shown, chosen }: Reviewed): readonly Grant[] {
  const inForce = { ...held, requested: held.permissions };
  const wasHeld = (id: PermissionId, resource: string) =>
    newRequests([{ id, resources: [resource] }], inForce).length === 0;
  const refused = shown.map(({ id, resources }) => ({
    id,
    resources: resources.filter((resource) => !covers(chosen, id, resource)),
  }));
  const stays = kept.map(({ id, resources }) => ({
    id,
    resources: resources.filter((resource) => wasHeld(id, resource) || !covers(refused, id, resource)),
  }));
  return joinGrants(stays, chosen).filter(({ resources }) => resources.length > 0);
}

export function sameGrants(one: readonly Grant[], other: readonly Grant[]): boolean {
  const choiceOf = (grants: readonly Grant[]): Choice =>
    new Map(grants.map(({ id, resources }) => [id, new Set(resources)]));
  return sameChoice(choiceOf(one), choiceOf(other));
}

export function sameChoice(one: Choice, other: Choice): boolean {
  const text = (choice: Choice) =>
    JSON.stringify([...choice].map(([id, resources]) => [id, [...resources].sort()]).sort());
  return text(one) === text(other);
}
