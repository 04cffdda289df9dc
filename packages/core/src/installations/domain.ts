// The domain of installed apps. Every account starts with the default ones.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { deletingVolumes } from './abandoned-volumes.ts';
import { installationFiles } from './account-files.ts';
import { createDefaultInstallations, ensureDefaultInstallations } from './default-installations.ts';
import { deletingData } from './delete-data.ts';
import { endInstallationsOf } from './end-account.ts';
import { followSystemPackages } from './follow-system-packages.ts';
import { type InstallationRoute, installationRoutes } from './routes.ts';

export function installationDomain(context: CoreContext): Domain<InstallationRoute> {
  return {
    handlers: installationRoutes(context),
    jobs: [deletingVolumes(context), deletingData(context)],
    packagesShipped: (hashes) => followSystemPackages(context, hashes),
    starting: () => ensureDefaultInstallations(context),
    filesOf: ({ accountKey }) => installationFiles(context, accountKey),
    accountCreated: (trx, account) => createDefaultInstallations(trx, context, account),
    accountDeleted: (trx, accountKey, afterCommit) => endInstallationsOf(trx, context, accountKey, afterCommit),
  };
}
