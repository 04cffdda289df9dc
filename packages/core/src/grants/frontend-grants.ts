// The outside origins of a frontend as grants (contract 3): what a manifest asks for with them, and what of them an
// installation was granted. The served policy is made of the latter.
import {
  type FrontendSources,
  frontendOrigins,
  type Grant,
  type Manifest,
  type RequestedGrant,
  sourceOrigin,
} from '@platform/contract';
import { intersectGrants, resourcesOf } from './grant-coverage.ts';

const CONNECT = 'network.connect';

export interface GrantedOrigins {
  /** For `fetch`, event streams and the like. */
  readonly connect: readonly string[];
  readonly image: readonly string[];
  readonly media: readonly string[];
}

/**
 * The origins of `frontend.csp` that an installation holds by name, as https origins fit for a header, each once for its
 * kind. A wildcard grant opens none: an upgrade could put any origin behind it.
 */
export function grantedOrigins(sources: FrontendSources | undefined, grants: readonly Grant[]): GrantedOrigins {
  const held = new Set(resourcesOf(grants, CONNECT));
  const granted = (urls: readonly string[] = []) => {
    const origins = urls.flatMap((url) => sourceOrigin(url) ?? []);
    return [...new Set(origins)].filter((origin) => held.has(origin));
  };
  return { connect: granted(sources?.connect), image: granted(sources?.image), media: granted(sources?.media) };
}

/**
 * All that a manifest requests. Publishing demands every origin of `frontend.csp` among the resources of
 * `network.connect`; a package from before that rule requests them by naming them.
 */
export function requestedGrants({
  permissions,
  frontend,
}: Pick<Manifest, 'permissions' | 'frontend'>): RequestedGrant[] {
  const asked = permissions.find(({ id }) => id === CONNECT);
  const missing = frontendOrigins(frontend?.csp).filter((origin) => asked?.resources.includes(origin) !== true);
  if (missing.length === 0) return permissions;
  const whole: RequestedGrant = { ...asked, id: CONNECT, resources: [...(asked?.resources ?? []), ...missing] };
  return [...permissions.filter((one) => one !== asked), whole];
}

/**
 * What stays of the held grants at a change of version: what the other version requests too. An origin stays only where
 * it was held by name: one that a wildcard covers was never read by anybody.
 */
export function carriedGrants(held: readonly Grant[], requested: readonly RequestedGrant[]): Grant[] {
  const named = new Set(resourcesOf(held, CONNECT));
  return intersectGrants(held, requested)
    .map((grant) =>
      grant.id === CONNECT
        ? { ...grant, resources: grant.resources.filter((one) => one.endsWith('*') || named.has(one)) }
        : grant,
    )
    .filter(({ resources }) => resources.length > 0);
}
