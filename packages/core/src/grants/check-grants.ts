// The grants a person chose, checked against what the app requested (specification 2.3) and ready to be stored.
import { type Grant, limits, type RequestedGrant, refuse } from '@platform/contract';
import { excessGrants, normaliseGrants } from './grant-coverage.ts';

/**
 * @param chosen the member `permissions` of a request body
 * @throws RefusalError `grants_exceed_request` naming every resource beyond the request, `invalid_request` when grants
 *   of one id together name too many resources
 */
export function checkGrants(requested: readonly RequestedGrant[], chosen: readonly Grant[]): Grant[] {
  const excess = excessGrants(requested, chosen);
  if (excess.length > 0) {
    throw refuse('grants_exceed_request', undefined, {
      errors: excess.map(({ id, resource, grantIndex, resourceIndex }) => ({
        path: `permissions[${grantIndex}].resources[${resourceIndex}]`,
        message: `The app did not request ${id} for ${resource}.`,
      })),
    });
  }
  const grants = normaliseGrants(chosen);
  for (const { id, resources } of grants) {
    if (resources.length > limits.grantResources.value)
      throw refuse('invalid_request', `A grant names at most ${limits.grantResources.value} resources.`, {
        errors: [{ path: 'permissions', message: `${id} names ${resources.length} resources in all` }],
      });
  }
  return grants;
}
