// What crosses a border of the platform, once: schemas, routes, permissions, errors, limits.
export * from './backend-resources.ts';
export * from './bridge.ts';
export * from './bridge-calls.ts';
export * from './client-network.ts';
export * from './configuration.ts';
export * from './dev-apps.ts';
export {
  type CallerKind,
  confirmedBy,
  type JsonBody,
  type KeptJson,
  type RateLimitName,
  type RouteSpec,
  type StreamedMember,
  type SystemRole,
  sufficientGrants,
} from './domain.ts';
export * from './domains.ts';
export * from './enrolment-token.ts';
export * from './errors.ts';
export * from './executable.ts';
export * from './field-errors.ts';
export * from './frontend-origins.ts';
export * from './image-reference.ts';
export * from './messaging-bridge.ts';
export * from './metrics.ts';
export * from './missing-grant.ts';
export * from './near-names.ts';
export * from './notification-text.ts';
export * from './package-format.ts';
export * from './permissions.ts';
export * from './plain-text.ts';
export * from './platform-sender.ts';
export * from './primitives.ts';
export * from './public-addresses.ts';
export * from './public-routes.ts';
export * from './repeated-members.ts';
export * from './request-target.ts';
export * from './resource-pattern.ts';
export * from './routes.ts';
export * from './schema-words.ts';
export * from './security-rating.ts';
export * from './session-header.ts';
export * from './sizes.ts';
export * from './text.ts';
export * from './unmet-needs.ts';
