// What happens to the apps of an account that is deleted: each is removed, and its volume given up.
import type { CoreContext } from '../context.ts';
import type { Changing } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import { assignmentsChanged } from '../placement/face.ts';
import { insertAbandonedVolumes } from './abandoned-queries.ts';
import { lockAllOf } from './queries.ts';
import { endInstallation } from './uninstall-app.ts';

export async function endInstallationsOf(trx: Changing, context: CoreContext, accountKey: string): Promise<void> {
  const installations = await lockAllOf(trx, accountKey);
  // Assignments are locked before the topology everywhere: an app without a node would lock the topology alone, and the
  // next one the assignments after it.
  await assignmentsChanged(trx, null);
  for (const { id, appId, installed } of installations)
    if (installed) await endInstallation(trx, context, { id, accountKey, appId });
  await insertAbandonedVolumes(trx, accountKey, context.clock());
  await notify(trx, 'data-abandoned', {});
}
