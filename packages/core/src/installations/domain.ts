// The domain of installed apps. Every account starts with the default ones.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { abandonedVolumes } from './abandoned-volumes.ts';
import { installationFiles } from './account-files.ts';
import { createDefaultInstallations } from './default-installations.ts';
import { deletingData } from './delete-data.ts';
import { endInstallationsOf } from './end-account.ts';
import { type InstallationRoute, type InstallationRouteParts, installationRoutes } from './routes.ts';

export function installationDomain(context: CoreContext, parts: InstallationRouteParts): Domain<InstallationRoute> {
  return {
    handlers: installationRoutes(context, parts),
    workers: [abandonedVolumes(context, parts.nodes), deletingData(context, parts.nodes)],
    filesOf: ({ accountKey }) => installationFiles(context, accountKey),
    accountCreated: (trx, account) => createDefaultInstallations(trx, context, account),
    accountDeleted: (trx, accountKey, afterCommit) => endInstallationsOf(trx, context, accountKey, afterCommit),
  };
}
