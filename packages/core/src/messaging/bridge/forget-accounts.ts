// Has the bridge forget deleted accounts, however long it is away: their devices, their rooms and what it keeps of them.
import { RefusalError } from '@platform/contract';
import type { JobKind } from '../../background/jobs.ts';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import type { BridgeClient } from './bridge-client.ts';
import { subjectOf } from './bridge-views.ts';
import { bridgeRemovals, insertRemoval, nameOfRemoved } from './queries.ts';

/** Longer than a call. */
const LEASE_MILLISECONDS = 60_000;
/** Longer than a call that was under way at the deletion: it would make the account known again. */
const AFTER_MILLISECONDS = 60_000;

/** In the transaction that deletes an account. */
export async function queueForgetting(
  { clock, config }: Pick<CoreContext, 'clock' | 'config'>,
  trx: Executor,
  accountKey: string,
): Promise<void> {
  const dueAt = new Date(clock().getTime() + AFTER_MILLISECONDS);
  const always = config.messaging.bridge.kind !== 'none';
  if (await insertRemoval(trx, accountKey, { dueAt, always })) await notify(trx, 'bridge-removal-queued', {});
}

/** @param client `null` while no bridge is configured: they wait for the day on which one is again */
export function forgettingAccounts(context: CoreContext, client: BridgeClient | null): JobKind<string> {
  const { database, config, log } = context;
  return {
    name: 'accounts that the messaging bridge is to forget',
    jobs: bridgeRemovals,
    wakeOn: 'bridge-removal-queued',
    slots: 2,
    leaseMilliseconds: LEASE_MILLISECONDS,
    possible: client !== null,
    async run({ id }) {
      const name = await nameOfRemoved(database, id);
      if (client === null || name === undefined) return 'done';
      try {
        await client.call(subjectOf(id, name, config.messaging.serverName), 'forget', {});
        return 'done';
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
        log.warn({ reason: error.message, userName: name }, 'a deleted account waits for the messaging bridge');
        return 'failed';
      }
    },
  };
}
