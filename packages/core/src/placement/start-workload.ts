// The credentials of one workload start (contract 3): new every time, so that those of the former start are dead.
import { type InstallationId, refuse, type startWorkloadBody, type WorkloadStart } from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { hashCredential, newCredential } from '../credentials/credential.ts';
import { notify } from '../database/notify.ts';
import { pausedRefusal, suspendedRefusal } from '../http/paused-refusal.ts';
import { haltOfOwner, replaceCoreCredential } from './queries.ts';

/**
 * @param start as the node sent it, which may be of a former version
 * @throws RefusalError `not_found` for an installation that is not placed on this node
 */
export async function startWorkload(
  context: CoreContext,
  nodeId: string,
  installationId: InstallationId,
  { envelopeKey, appCapabilityHash }: z.output<typeof startWorkloadBody> = {},
): Promise<WorkloadStart> {
  const coreServiceCredential = newCredential('core', context.random);
  const epoch = await context.database.transaction().execute(async (trx) => {
    // The node may not have applied it yet.
    const halt = await haltOfOwner(trx, installationId);
    if (halt !== null) throw halt === 'paused' ? pausedRefusal() : suspendedRefusal();
    const tokenHash = hashCredential(coreServiceCredential);
    const replaced = await replaceCoreCredential(trx, {
      installationId,
      nodeId,
      tokenHash,
      envelopeKey: envelopeKey === undefined ? null : Buffer.from(envelopeKey, 'base64url'),
      now: context.clock(),
    });
    if (replaced === undefined) throw refuse('not_found');
    await context.lifecycle.workloadStarted(trx, {
      installationId,
      capabilityHash: appCapabilityHash === undefined ? null : Buffer.from(appCapabilityHash, 'base64url'),
    });
    await notify(trx, 'credential-replaced', { installationId });
    return replaced;
  });
  // This replica forgets the former credential before the new one is handed out.
  await context.signals.settled(context.pool);
  return { coreServiceCredential, epoch };
}
