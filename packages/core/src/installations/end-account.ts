// What happens to the apps of an account that is deleted: each is removed, and its volume given up.
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { AfterCommit } from '../lifecycle.ts';
import { assignmentsChanged } from '../placement/face.ts';
import { insertAbandonedVolumes } from './abandoned-queries.ts';
import { lockAllOf } from './queries.ts';
import { endInstallation } from './uninstall-app.ts';

export async function endInstallationsOf(
  trx: Transaction<DatabaseSchema>,
  context: CoreContext,
  accountKey: string,
  afterCommit: AfterCommit,
): Promise<void> {
  const installations = await lockAllOf(trx, accountKey);
  // Assignments are locked before the topology everywhere: an app without a node would lock the topology alone, and the
  // next one the assignments after it.
  await assignmentsChanged(trx, null);
  for (const { id, appId, installed } of installations)
    if (installed) await endInstallation(trx, context, { id, accountKey, appId }, afterCommit);
  await insertAbandonedVolumes(trx, accountKey, context.clock());
  await notify(trx, 'data-abandoned', {});
}
