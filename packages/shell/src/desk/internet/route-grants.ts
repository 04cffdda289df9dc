// The switch of one public route: which resources of `endpoints.public` let it pass, and which are left without it.
import { openRoutes, routeState } from '@platform/contract';

/** Whether everything that `route` stands for is within `resource`. */
function isWithin(route: string, resource: string): boolean {
  return routeState(route, [resource]) === 'open';
}

/** How much of a route its owner can open: what the app did not request cannot be granted. */
export function canOpen(route: string, requested: readonly string[]): 'all' | 'part' | 'nothing' {
  const state = routeState(route, requested);
  if (state === 'open') return 'all';
  return state === 'partly' ? 'part' : 'nothing';
}

/** What of the route the grant lets pass, e.g. `POST:/hooks/x` of `POST:/hooks/*`. */
export function openPartOf(route: string, granted: readonly string[]): readonly string[] {
  return openRoutes([route], granted);
}

/**
 * The other declared route through which this one is open, whatever its own switch says: `GET:/*` for `GET:/feed`. It has
 * to be closed first.
 */
export function openThrough(
  route: string,
  declared: readonly string[],
  granted: readonly string[],
): string | undefined {
  return declared.find(
    (other) => other !== route && isWithin(route, other) && granted.some((resource) => isWithin(other, resource)),
  );
}

/** @returns resources that are granted once the route is opened, as far as `requested` goes */
export function withRoute(route: string, granted: readonly string[], requested: readonly string[]): string[] {
  return [...new Set([...granted, ...openRoutes([route], requested)])];
}

/**
 * A wider resource gives way to the other declared routes that it covered; each of them keeps a switch of its own.
 *
 * @returns resources that are granted once the route is closed
 */
export function withoutRoute(route: string, granted: readonly string[], declared: readonly string[]): string[] {
  const others = declared.filter((other) => other !== route);
  const left = granted.flatMap((resource) => {
    if (isWithin(resource, route)) return others.includes(resource) ? [resource] : [];
    if (isWithin(route, resource))
      return others.filter((other) => isWithin(other, resource) && !isWithin(other, route));
    return [resource];
  });
  return [...new Set(left)];
}
