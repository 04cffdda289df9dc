// The credentials of one workload start (contract 3): new every time, so that those of the former start are dead.
import { type InstallationId, refuse, type startWorkloadBody, type WorkloadStart } from '@platform/contract';
import type { Kysely } from 'kysely';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { hashCredential, newCredential } from '../credentials/credential.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { pausedRefusal, suspendedRefusal } from '../http/paused-refusal.ts';
import { haltOfOwner, replaceCoreCredential } from './queries.ts';

export interface StartOptions {
  /** As the node sent them; it may be of a former version. */
  readonly start: z.output<typeof startWorkloadBody> | undefined;
  readonly keepCapability: KeepCapability;
}

/** Stores PLATFORM_APP_CAPABILITY of a start by its hash. */
export type KeepCapability = (
  trx: Kysely<DatabaseSchema>,
  installationId: InstallationId,
  tokenHash: Buffer,
) => Promise<void>;

/**
 * @throws RefusalError `not_found` for an installation that is not placed on this node
 */
export async function startWorkload(
  context: CoreContext,
  nodeId: string,
  installationId: InstallationId,
  { start: { envelopeKey, appCapabilityHash } = {}, keepCapability }: StartOptions,
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
    if (appCapabilityHash !== undefined)
      await keepCapability(trx, installationId, Buffer.from(appCapabilityHash, 'base64url'));
    await notify(trx, 'credential-replaced', { installationId });
    return replaced;
  });
  // This replica forgets the former credential before the new one is handed out.
  await context.signals.settled(context.pool);
  return { coreServiceCredential, epoch };
}
