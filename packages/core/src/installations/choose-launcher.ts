// Which installed app is the home screen (specification 4.1, `apps.launcher.register`). The choice belongs to the account.
import { type Manifest, missingGrantWords, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import { deleteLauncher, lockOwn, upsertLauncher } from './queries.ts';

const HOME = 'apps.launcher.register';

const requests = ({ permissions }: Pick<Manifest, 'permissions'>) => permissions.some(({ id }) => id === HOME);

/** @throws RefusalError `not_found`, `invalid_request` for an app without a frontend, `grant_missing` */
export async function chooseLauncher(context: CoreContext, accountKey: string, appId: string): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    const app = await lockOwn(trx, accountKey, appId);
    if (app === undefined) throw refuse('not_found');
    const { frontend, name } = app.manifest;
    if (frontend === undefined) throw refuse('invalid_request', `${name} has no page to show as the home screen.`);
    if (resourcesOf(app.grants, HOME).length === 0)
      throw refuse('grant_missing', missingGrantWords({ name, id: HOME, isRequested: requests(app.manifest) }));
    await upsertLauncher(trx, accountKey, appId);
    await notify(trx, 'launcher-changed', { accountKey });
  });
}

export async function restoreLauncher(context: CoreContext, accountKey: string): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    if (await deleteLauncher(trx, accountKey)) await notify(trx, 'launcher-changed', { accountKey });
  });
}
