// The wallet domain: apps propose payments and limits, their person approves, and a ledger keeps what happened.
import { limits } from '@platform/contract';
import { everyItem, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { approvalChallenge } from './challenge.ts';
import { walletOpens } from './count-queries.ts';
import { returnCredits } from './credit.ts';
import { creditsRail } from './credits-rail.ts';
import { statementJson } from './export-statement.ts';
import { publishingNotices } from './notices.ts';
import { declineOf } from './proposal-queries.ts';
import { type Rail, Rails } from './rail.ts';
import { requireCurrency } from './require-currency.ts';
import { walletRetention } from './retention.ts';
import { type WalletRoute, walletRoutes } from './routes.ts';
import { listPolicies, listProposals } from './view.ts';

/** @param more rails besides the credits of the operator; only tests have any */
export function walletDomain(context: CoreContext, more: readonly Rail[] = []): Domain<WalletRoute> {
  const rails = new Rails([creditsRail(context) as Rail, ...more]);
  const page = { limit: limits.pageMaximum.value };
  return {
    handlers: walletRoutes({ ...context, rails }),
    starting: () => requireCurrency(context),
    opens: walletOpens(context),
    workers: [walletRetention(context)],
    jobs: [publishingNotices(context, rails)],
    emits: [emission({ signal: 'wallet-changed', event: 'wallet', to: ['session'] })],
    challengeOf: (confirming) => approvalChallenge(context, confirming),
    // Nobody decides any more on what a removed app proposed.
    async installationEnded(trx, id) {
      const accountKey = await declineOf(trx, id);
      if (accountKey !== undefined) await notify(trx, 'wallet-changed', { accountKey });
    },
    accountDeleted: (trx, accountKey) => returnCredits(context, trx, accountKey),
    async *filesOf(account) {
      const pieces: string[] = [];
      for await (const piece of statementJson(context, account)) pieces.push(piece);
      yield { path: 'wallet.json', content: Buffer.from(pieces.join('')) };
      const { accountKey } = account;
      yield* jsonLines(
        'wallet-proposals',
        everyItem((cursor) => listProposals(context, accountKey, { ...page, cursor })),
      );
      yield* jsonLines(
        'wallet-policies',
        everyItem((cursor) => listPolicies(context, accountKey, { ...page, cursor })),
      );
    },
  };
}
