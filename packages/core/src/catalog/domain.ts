// The catalog domain: apps, their versions and packages.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { withdrawAbandoned, withdrawingAbandoned } from './abandoned-versions.ts';
import { packageFiles } from './account-files.ts';
import { CheckPool } from './check-pool.ts';
import { type CatalogRoute, catalogRoutes } from './routes.ts';

export function catalogDomain(context: CoreContext): Domain<CatalogRoute> {
  const checks = new CheckPool();
  const abandoned = withdrawingAbandoned(context);
  return {
    handlers: catalogRoutes(context, checks.verify),
    workers: [checks, abandoned],
    async accountDeleted(_trx, _accountKey, afterCommit) {
      afterCommit(async () => {
        while (await withdrawAbandoned(context));
      });
    },
    filesOf: ({ accountKey }) => packageFiles(context, accountKey),
  };
}
