// The domain of installed apps. Every account starts with the default ones.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { createDefaultInstallations } from './default-installations.ts';
import { type InstallationRoute, type InstallationRouteParts, installationRoutes } from './routes.ts';

export function installationDomain(context: CoreContext, parts: InstallationRouteParts): Domain<InstallationRoute> {
  return {
    handlers: installationRoutes(context, parts),
    accountCreated: (trx, account) => createDefaultInstallations(trx, context, account),
  };
}
