// Removing an app: everything it could act with ends in one transaction; its identity stays, and with it its volume.
import { type InstallationId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { type Changing, changingAt } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import { deleteLauncher, lockOwn, markRemoved } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function uninstallApp(context: CoreContext, accountKey: string, appId: string): Promise<void> {
  await changingAt(context, 'installations.uninstall', async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    await endInstallation(trx, context, { id: installation.id, accountKey, appId });
  });
}

/** Ends an installation that is locked. */
export async function endInstallation(
  trx: Changing,
  context: CoreContext,
  { id, accountKey, appId }: { readonly id: InstallationId; readonly accountKey: string; readonly appId: string },
): Promise<void> {
  await markRemoved(trx, id, context.clock());
  await deleteLauncher(trx, accountKey, appId);
  await notify(trx, 'installation-changed', { installationId: id, accountKey });
  await context.lifecycle.installationEnded(trx, id);
}
