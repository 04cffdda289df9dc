// The SQL of what the permissions of the wallet open today: what waits, how much more may, and what limits it.
import { limits } from '@platform/contract';
import { sql } from 'kysely';
import type { CoreContext } from '../context.ts';
import { type Counted, countOpened, type OpensPart, openedOf } from '../opened.ts';
import { countPending } from './proposal-queries.ts';

export function walletOpens({ database, clock }: Pick<CoreContext, 'database' | 'clock'>): OpensPart {
  const waiting = ({ installationId }: Counted, kind: 'payment' | 'policy') =>
    countOpened(
      database,
      'wallet-proposals',
      sql`SELECT FROM wallet_proposals WHERE installation_id = ${installationId} AND kind = ${kind}
             AND state = 'pending' AND expires_at > ${clock()}`,
    );
  // Of both kinds together.
  const left = async ({ installationId }: Counted) => {
    const pending = await countPending(database, installationId, clock());
    return openedOf('wallet-proposals-left', Math.max(0, limits.walletProposalsPending.value - pending));
  };
  // Also one that ended: it admits nothing, and still limits.
  const limiting = ({ accountKey, appId }: Counted) =>
    countOpened(
      database,
      'wallet-policies',
      sql`SELECT FROM wallet_policies WHERE account_key = ${accountKey} AND (app_ids IS NULL OR ${appId} = ANY (app_ids))`,
    );
  return {
    'wallet.payment.propose': async (grant) => [
      await waiting(grant, 'payment'),
      await left(grant),
      await limiting(grant),
    ],
    'wallet.policy.propose': async (grant) => [await waiting(grant, 'policy'), await left(grant)],
  };
}
