// What crosses a border of the platform, once: schemas, routes, permissions, errors, limits.
export * from './accounts.ts';
export * from './bridge.ts';
export * from './bridge-calls.ts';
export * from './catalog.ts';
export * from './configuration.ts';
export * from './errors.ts';
export * from './grants.ts';
export * from './installations.ts';
export * from './limits.ts';
export * from './manifest.ts';
export * from './node.ts';
export * from './notifications.ts';
export * from './permissions.ts';
export * from './primitives.ts';
export * from './request-target.ts';
export * from './routes.ts';
export * from './search.ts';
