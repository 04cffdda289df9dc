// What the rest of core may use of topology.
export { BEHIND_NAT } from './behind-nat.ts';
export { routesChanged, type Touched } from './change-routes.ts';
export { keepPublicSide, servesPublic } from './node-addresses.ts';
export { adoptDomain, isDomain, outdatedInstallations } from './route-queries.ts';
export { linesAfter } from './topology-lines.ts';
