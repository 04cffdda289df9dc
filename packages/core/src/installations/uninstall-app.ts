// Removing an app: everything it could act with ends in one transaction; its identity stays, and with it its volume.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { lockOwn, markRemoved } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function uninstallApp(context: CoreContext, accountKey: string, appId: string): Promise<void> {
  const afterwards: (() => Promise<void>)[] = [];
  await context.database.transaction().execute(async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const { id } = installation;
    await markRemoved(trx, id, context.clock());
    await notify(trx, 'installation-changed', { installationId: id, accountKey });
    await context.lifecycle.installationEnded(trx, id, (work) => afterwards.push(work));
    await context.at('installations.uninstall.committing');
  });
  await context.at('installations.uninstall.committed');
  for (const work of afterwards) await work();
}
