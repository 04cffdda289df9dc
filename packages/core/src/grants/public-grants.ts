// What an installation holds of `endpoints.public` and `endpoints.public.udp`, by the names of what its version declares.
import { type Grant, type Manifest, openRoutes } from '@platform/contract';
import { allows, normaliseGrants, resourcesOf } from './grant-coverage.ts';

const ROUTES = 'endpoints.public';
const PORTS = 'endpoints.public.udp';

/**
 * A wildcard opens what the reviewed version declared. Before a change of version it gives way to the routes and ports that
 * it opened: those that another version declares as well were never read by anybody, and stay closed.
 *
 * @param declared by the version that is installed
 */
export function openedByName(
  held: readonly Grant[],
  { publicEndpoints = [], publicPorts = [] }: Pick<Manifest, 'publicEndpoints' | 'publicPorts'>,
): Grant[] {
  const routes = openRoutes(publicEndpoints, resourcesOf(held, ROUTES));
  const ports = publicPorts
    .map(({ containerPort }) => `UDP:${containerPort}`)
    .filter((resource) => allows(held, PORTS, resource));
  return normaliseGrants(
    held.map((grant) => {
      if (grant.id === ROUTES) return { id: grant.id, resources: routes };
      return grant.id === PORTS ? { id: grant.id, resources: ports } : grant;
    }),
  );
}
