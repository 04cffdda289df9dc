// What an installation holds when its version changes: no change of version takes a grant away, and none adds one. What the version
// does not request is set aside, without effect, until a version requests it again.
import type { Grant, RequestedGrant } from '@platform/contract';
import { carriedGrants } from './frontend-grants.ts';
import { allows, excessGrants, normaliseGrants } from './grant-coverage.ts';

export interface HeldGrants {
  /** In force. */
  readonly grants: readonly Grant[];
  /** Without effect. */
  readonly setAside: readonly Grant[];
}

export function grantsOfVersion({ grants, setAside }: HeldGrants, requested: readonly RequestedGrant[]): HeldGrants {
  const held = normaliseGrants([...grants, ...setAside]);
  const next = carriedGrants(held, requested);
  return { grants: next, setAside: beyond(held, next) };
}

/**
 * What stays set aside when the owner replaces the grants: a permission of which the owner takes something away does not come
 * back with a later version, whatever was set aside of it.
 */
export function setAsideAfter({ grants, setAside }: HeldGrants, next: readonly Grant[]): Grant[] {
  const lost = new Set(excessGrants(next, grants).map(({ id }) => id));
  return beyond(
    setAside.filter(({ id }) => !lost.has(id)),
    next,
  );
}

/** Of the one list, what the other does not cover. */
function beyond(held: readonly Grant[], covered: readonly Grant[]): Grant[] {
  return held
    .map(({ id, resources }) => ({ id, resources: resources.filter((one) => !allows(covered, id, one)) }))
    .filter(({ resources }) => resources.length > 0);
}
