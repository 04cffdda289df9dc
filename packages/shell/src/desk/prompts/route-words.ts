// Public routes and ports in plain words: for reviews and for Settings.

export interface RouteWords {
  /** `/hooks/ and everything below it` */
  readonly path: string;
  /** `POST`, `WebSocket`; `null` where the route says none. */
  readonly method: string | null;
}

/** @param route a declared route, or a resource of `endpoints.public`, which may end in `*` anywhere */
export function routeWords(route: string): RouteWords {
  if (route === '*') return { path: 'every path that the app declares', method: null };
  const [, method = '', path = ''] = /^([A-Z]+):(\/.*|\*)$/.exec(route) ?? [];
  if (method === '') return { path: `everything starting with “${route.replace(/\*$/, '')}”`, method: null };
  return { path: pathInWords(path), method: method === 'WS' ? 'WebSocket' : method };
}

/** In one line: `/hooks/ and everything below it (POST)`. */
export function routeInWords(route: string): string {
  const { path, method } = routeWords(route);
  return method === null ? path : `${path} (${method})`;
}

function pathInWords(path: string): string {
  if (path === '/*' || path === '*') return 'every path';
  if (path.endsWith('/*')) return `${path.slice(0, -1)} and everything below it`;
  return path.endsWith('*') ? `every path starting with ${path.slice(0, -1)}` : path;
}

/** @param resource of `endpoints.public.udp` */
export function portInWords(resource: string): string {
  if (resource === 'UDP:auto') return 'a UDP port that the platform chooses';
  const [, number] = /^UDP:(\d+)$/.exec(resource) ?? [];
  if (number !== undefined) return `UDP port ${number}`;
  return resource === '*' || resource === 'UDP:*' ? 'every UDP port that the app declares' : resource;
}
