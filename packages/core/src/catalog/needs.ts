// What a version of an app needs, from which it is decided what of it cannot work for an account.
import { askedResources, type CatalogDetail, type Manifest, openRoutes } from '@platform/contract';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';

/** As the Store describes it: what it asks for, and what its backend takes. */
export function needsOf(
  manifest: Manifest,
): Pick<CatalogDetail, 'permissions' | 'resources' | 'backend' | 'publicRoutes'> {
  const { workload, publicEndpoints = [] } = manifest;
  const permissions = requestedGrants(manifest);
  return {
    permissions,
    resources: workload === undefined ? null : askedResources(workload),
    backend: workload === undefined ? null : { runtime: workload.runtime, processor: workload.processor ?? null },
    publicRoutes: openRoutes(publicEndpoints, resourcesOf(permissions, 'endpoints.public')),
  };
}
