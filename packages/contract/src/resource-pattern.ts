// Which resources a granted one covers (specification 2.3). Every decision about authority of an installation comes down
// to this, in core and in Gateways.

/**
 * Whether `pattern` covers `resource`: exact by default, `*` covers everything, and a trailing `*` everything with that
 * prefix. `resource` may be a pattern itself: as `*` stands only at the end of a resource, a pattern covers another one
 * exactly when its prefix begins the other's text, so a wildcard is covered only by an equal or wider one.
 */
export function matchesResource(pattern: string, resource: string): boolean {
  return pattern.endsWith('*') ? resource.startsWith(pattern.slice(0, -1)) : resource === pattern;
}
