// Which public requests an installation answers: the routes that its manifest declares and its grants allow, both at
// once (specification 4.11, contract 4e). Ingress, node and Gateway ask the same matcher; core gives each of them only
// the routes that are open, so that a route that is declared and not granted is to all of them as if it were not there.
import { hidesDotSegment } from './request-target.ts';
import { matchesResource } from './resource-pattern.ts';

/** The method of WebSocket handshakes in routes. No HTTP request has it: parsers know no such method. */
export const WEBSOCKET_METHOD = 'WS';

/** Matches requests with open routes. */
export interface PublicRoutes {
  /**
   * @param method as sent, in upper case; `WEBSOCKET_METHOD` for a valid handshake
   * @param path as sent, without query, accepted by `checkRequestTarget`
   */
  match(method: string, path: string): boolean;
}

/** How far a declared route is open. */
export type RouteState = 'open' | 'partly' | 'not-granted';

const ALL_BELOW = '/*';

/** Whether everything that `other` stands for is covered: `/hooks/*` covers `/hooks` as well. */
function covers(pattern: string, other: string): boolean {
  return (
    matchesResource(pattern, other) || (pattern.endsWith(ALL_BELOW) && other === pattern.slice(0, -ALL_BELOW.length))
  );
}

/** The name that a `Host` stands for, as policies and the topology write it: lower case, without port. */
export function publicHostname(host: string): string {
  const port = host.lastIndexOf(':');
  return (port < 0 ? host : host.slice(0, port)).toLowerCase();
}

/**
 * The routes that are open, as narrow as the narrower of declaration and grant, e.g. `POST:/hooks/x` where `POST:/hooks/*`
 * is declared and `POST:/hooks/x` granted. A trailing `*` stands for every path with that beginning.
 *
 * @param declared `publicEndpoints` of the manifest
 * @param granted resources of `endpoints.public`
 */
export function openRoutes(declared: readonly string[], granted: readonly string[]): string[] {
  const open = declared.flatMap((route) =>
    granted.flatMap((resource) => {
      if (covers(resource, route)) return [route];
      return covers(route, resource) ? [resource] : [];
    }),
  );
  return [...new Set(open)];
}

/** @param declared one of `publicEndpoints` */
export function routeState(declared: string, granted: readonly string[]): RouteState {
  if (granted.some((resource) => covers(resource, declared))) return 'open';
  return granted.some((resource) => covers(declared, resource)) ? 'partly' : 'not-granted';
}

/** @param open from {@link openRoutes} */
export function publicRoutes(open: readonly string[]): PublicRoutes {
  const exact = new Set<string>();
  const beginnings: string[] = [];
  for (const route of open) {
    if (!route.endsWith('*')) {
      exact.add(route);
      continue;
    }
    beginnings.push(route.slice(0, -1));
    if (route.endsWith(ALL_BELOW)) exact.add(route.slice(0, -ALL_BELOW.length));
  }
  // Of paths that some servers would lead out of a beginning again, none is below it.
  const has = (method: string, path: string): boolean =>
    exact.has(`${method}:${path}`) ||
    (beginnings.some((beginning) => `${method}:${path}`.startsWith(beginning)) && !hidesDotSegment(path));
  return {
    match: (method, path) => has(method, path) || (method === 'HEAD' && has('GET', path)),
  };
}
