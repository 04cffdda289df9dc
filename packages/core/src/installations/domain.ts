// The domain of installed apps. Every account starts with the default ones.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { deletingVolumes } from './abandoned-volumes.ts';
import { installationFiles } from './account-files.ts';
import { createDefaultInstallations, ensureDefaultInstallations } from './default-installations.ts';
import { deletingData } from './delete-data.ts';
import { endInstallationsOf } from './end-account.ts';
import { followSystemPackages } from './follow-system-packages.ts';
import { frontendCaller } from './frontend-caller.ts';
import { appsOpened } from './grants-opened.ts';
import { installationCaller } from './installation-caller.ts';
import { type InstallationRoute, installationRoutes } from './routes.ts';
import { installationTools } from './tools.ts';

export function installationDomain(context: CoreContext): Domain<InstallationRoute, 'installation' | 'frontend'> {
  return {
    handlers: installationRoutes(context),
    callers: { installation: installationCaller(context), frontend: frontendCaller(context) },
    emits: [
      emission({ signal: 'installation-changed', event: 'apps', to: ['session'] }),
      emission({ signal: 'launcher-changed', event: 'apps', to: ['session'] }),
      // Fleet shows something from now on, or nothing.
      emission({ signal: 'master-changed', event: 'apps', to: ['session'] }),
    ],
    jobs: [deletingVolumes(context), deletingData(context)],
    tools: installationTools,
    opens: appsOpened(context),
    packagesShipped: (hashes) => followSystemPackages(context, hashes),
    starting: () => ensureDefaultInstallations(context),
    filesOf: ({ accountKey }) => installationFiles(context, accountKey),
    accountCreated: (trx, account) => createDefaultInstallations(trx, context, account),
    accountDeleted: (trx, accountKey) => endInstallationsOf(trx, context, accountKey),
  };
}
