// The catalog domain: apps, their versions and packages.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { CheckPool } from './check-pool.ts';
import { type CatalogRoute, catalogRoutes } from './routes.ts';

export function catalogDomain(context: CoreContext): Domain<CatalogRoute> {
  const checks = new CheckPool();
  return { handlers: catalogRoutes(context, checks.verify), workers: [checks] };
}
