// The catalog domain: apps, their versions and packages.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { packageFiles } from './account-files.ts';
import { DrawnIcons } from './icons/drawn-icon.ts';
import { IconDrawer } from './icons/icon-drawer.ts';
import { CheckPool } from './packages/check-pool.ts';
import { type CatalogRoute, catalogRoutes } from './routes.ts';
import { VerifyingInstalled } from './stored/verifying-installed.ts';
import { withdrawAbandoned, withdrawingAbandoned } from './versions/abandoned-versions.ts';
import { ensureSystemPackages } from './versions/system-packages.ts';

export interface CatalogOptions {
  /** Built packages of the apps that come with the platform. */
  readonly systemPackages: readonly { readonly path: string }[];
}

export function catalogDomain(context: CoreContext, { systemPackages }: CatalogOptions): Domain<CatalogRoute> {
  const checks = new CheckPool();
  const drawer = new IconDrawer();
  const abandoned = withdrawingAbandoned(context);
  const verifying = new VerifyingInstalled(context);
  return {
    handlers: catalogRoutes(context, { verify: checks.verify, drawer, drawn: new DrawnIcons(context, drawer) }),
    workers: [checks, drawer, abandoned, verifying],
    async starting() {
      await context.lifecycle.packagesShipped(await ensureSystemPackages(context, systemPackages));
    },
    async accountDeleted(trx) {
      trx.afterCommit(async () => {
        while (await withdrawAbandoned(context));
      });
    },
    filesOf: ({ accountKey }) => packageFiles(context, accountKey),
  };
}
