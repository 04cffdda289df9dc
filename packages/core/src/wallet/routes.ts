// The wallet over HTTP: apps propose, their person decides and reads.
import { Readable } from 'node:stream';
import { type DomainRoute, type PermissionId, refuse } from '@platform/contract';
import { ceremonyRefused, type Refused, type SessionCaller } from '../accounts/face.ts';
import { notify } from '../database/notify.ts';
import { allows } from '../grants/grant-coverage.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { missingGrant, pageOf } from '../installations/face.ts';
import { approveProposal, declineProposal } from './approve.ts';
import { statementCsv, statementJson } from './export-statement.ts';
import { findReceipt } from './ledger-queries.ts';
import { deletePolicy } from './policy-queries.ts';
import { findProposal, type ProposalRow, type Reader } from './proposal-queries.ts';
import { type Proposer, proposePayment, proposePolicy, type WalletContext } from './propose.ts';
import {
  listEntries,
  listPolicies,
  listProposals,
  operationOf,
  proposalOf,
  readBalances,
  receiptOf,
  reviewOf,
} from './view.ts';

export type WalletRoute = DomainRoute<'wallet'>;

export function walletRoutes(context: WalletContext): HandlersOf<WalletRoute> {
  const view = (row: ProposalRow) => proposalOf(row, context.clock());
  const created = (row: ProposalRow) => ({ status: 201 as const, body: { proposal: view(row) } });

  async function find(reader: Reader, id: string): Promise<ProposalRow> {
    const row = await findProposal(context.database, reader, id);
    if (row === undefined) throw refuse('not_found');
    return row;
  }

  /** The app whose page asks the shell. @throws RefusalError `not_found`, `runtime_paused`, `grant_missing` */
  async function pageProposer(session: SessionCaller, appId: string, id: PermissionId): Promise<Proposer> {
    const app = await pageOf(context, session, appId);
    if (!allows(app.grants, id, '*')) throw await missingGrant(context.pool, app, { id, resource: '*' });
    return { ...app, isShown: true };
  }

  return {
    'services.wallet.payments': async ({ caller, body }) =>
      created(await proposePayment(context, { ...caller, isShown: false }, body)),
    'services.wallet.policies': async ({ caller, body }) =>
      created(await proposePolicy(context, { ...caller, isShown: false }, body)),
    'services.wallet.proposal': async ({ caller, params }) => ({
      status: 200,
      body: { proposal: view(await find({ installationId: caller.installationId }, params.id)) },
    }),
    'apps.wallet.payments': async ({ caller, params, body }) =>
      created(await proposePayment(context, await pageProposer(caller, params.appId, 'wallet.payment.propose'), body)),
    'apps.wallet.policies': async ({ caller, params, body }) =>
      created(await proposePolicy(context, await pageProposer(caller, params.appId, 'wallet.policy.propose'), body)),
    'wallet.read': async ({ caller }) => ({ status: 200, body: await readBalances(context, caller) }),
    'wallet.entries': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listEntries(context, accountKey, query),
    }),
    'wallet.proposals.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listProposals(context, accountKey, query),
    }),
    'wallet.proposals.read': async ({ caller: { accountKey }, params }) => {
      const row = await find({ accountKey }, params.id);
      const review = await reviewOf(context, row);
      return { status: 200, body: { proposal: view(row), operation: operationOf(row), review } };
    },
    'wallet.proposals.approve': async ({ caller: session, params: { id }, body: { confirmation }, request }) => {
      const refused: Refused = (fault) => ceremonyRefused(context.log, request, 'approve-wallet-proposal', fault);
      const receipt = await approveProposal(context, { id, session, confirmation, refused });
      const row = await find({ accountKey: session.accountKey }, id);
      return { status: 200, body: { proposal: view(row), receipt: receiptOf(receipt, session.accountKey) } };
    },
    'wallet.proposals.decline': async ({ caller: { accountKey }, params }) => ({
      status: 200,
      body: { proposal: view(await declineProposal(context, accountKey, params.id)) },
    }),
    'wallet.policies.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listPolicies(context, accountKey, query),
    }),
    'wallet.policies.remove': async ({ caller: { accountKey }, params: { id } }) => {
      await context.database.transaction().execute(async (trx) => {
        if (!(await deletePolicy(trx, accountKey, id))) throw refuse('not_found');
        await notify(trx, 'wallet-changed', { accountKey });
      });
      return { status: 204 };
    },
    'wallet.receipt': async ({ caller: { accountKey }, params: { id } }) => {
      const row = await findReceipt(context.database, accountKey, id);
      if (row === undefined) throw refuse('not_found');
      return { status: 200, body: { receipt: receiptOf(row, accountKey) } };
    },
    'wallet.export': async ({ caller, query: { format }, reply }) => {
      const pieces = format === 'csv' ? statementCsv(context, caller) : statementJson(context, caller);
      const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8';
      void reply
        .header('content-type', type)
        .header('content-disposition', `attachment; filename="wallet-${caller.accountName}.${format}"`)
        .send(Readable.from(pieces));
      return { streamed: true };
    },
  };
}
