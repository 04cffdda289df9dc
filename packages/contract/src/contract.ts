// What crosses a border of the platform, once: schemas, routes, permissions, errors, limits.
export * from './backend-resources.ts';
export * from './bridge.ts';
export * from './bridge-calls.ts';
export * from './configuration.ts';
export type { CallerKind, JsonBody, RateLimitName, RouteSpec } from './domain.ts';
export * from './domains.ts';
export * from './enrolment-token.ts';
export * from './errors.ts';
export * from './frontend-origins.ts';
export * from './image-reference.ts';
export * from './metrics.ts';
export * from './permissions.ts';
export * from './primitives.ts';
export * from './public-addresses.ts';
export * from './request-target.ts';
export * from './routes.ts';
export * from './schema-words.ts';
export * from './text.ts';
