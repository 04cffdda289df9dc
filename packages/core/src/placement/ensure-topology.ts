// At the start of core: brings the topology up to date with what changed without it, that is what was there before it was
// kept, what a former version changed, and another domain.
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { adoptDomain, isDomain, outdatedInstallations } from '../topology/face.ts';
import { assignmentsChanged } from './change-assignments.ts';

/** Installations in one transaction, which others wait for. */
const AT_ONCE = 500;

export async function ensureTopology(context: CoreContext): Promise<void> {
  const { database, config } = context;
  await database.transaction().execute(async (trx) => {
    if (await isDomain(trx, config.ingressDomain)) return;
    await assignmentsChanged(trx, null);
    await adoptDomain(trx, config.ingressDomain);
    await notify(trx, 'topology-changed', {});
  });
  for (let after = ''; ; ) {
    const installations = await outdatedInstallations(database, after, AT_ONCE);
    const last = installations.at(-1);
    if (last === undefined) return;
    await database.transaction().execute((trx) => assignmentsChanged(trx, { context, installations }));
    context.log.info({ installations: installations.length }, 'brought public names up to date');
    after = last;
  }
}
