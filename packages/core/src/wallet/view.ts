// Proposals, receipts and entries as their readers see them.
import {
  type Receipt,
  type RouteAnswer,
  type RouteQuery,
  type ShownWalletProposal,
  type WalletEntry,
  type WalletOperation,
  type WalletProposal,
  type WalletReview,
  walletOperation,
} from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { ListPage } from '../http/list-page.ts';
import { selectAppNames } from '../installations/face.ts';
import { admitting, policyOf } from './admit-payment.ts';
import { type EntryRow, type ReceiptRow, selectEntries, sidesOf } from './ledger-queries.ts';
import { policiesNaming, selectPolicies } from './policy-queries.ts';
import { type ProposalRow, selectProposals } from './proposal-queries.ts';
import { addressOf, type WalletContext } from './propose.ts';

export function proposalOf(row: ProposalRow, now: Date): WalletProposal {
  const { id, kind, state, receipt_id, receipt_at } = row;
  return {
    ...{ id, kind, state: state === 'pending' && row.expires_at <= now ? 'expired' : state },
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    receipt: receipt_id === null || receipt_at === null ? null : { id: receipt_id, at: receipt_at.toISOString() },
  };
}

export function operationOf({ operation }: Pick<ProposalRow, 'operation'>): WalletOperation {
  return walletOperation.parse(JSON.parse(operation));
}

function shownOf(row: ProposalRow, now: Date): ShownWalletProposal {
  return {
    ...proposalOf(row, now),
    appId: row.app_id as ShownWalletProposal['appId'],
    operation: operationOf(row),
  };
}

/** Newest first. @throws RefusalError `invalid_cursor` */
export async function listProposals(
  { database, cursors, clock }: CoreContext,
  accountKey: string,
  { limit, cursor, state }: RouteQuery<'wallet.proposals.list'>,
): Promise<ListPage<ShownWalletProposal>> {
  const list = `wallet-proposals:${accountKey}:${state ?? ''}`;
  const before = cursor === undefined ? null : String(cursors.decode(list, cursor));
  const now = clock();
  const rows = await selectProposals(database, accountKey, { state, before, limit: limit + 1, now });
  const items = rows.slice(0, limit).map((row) => shownOf(row, now));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null };
}

/** What a person sees beside the operation. */
export async function reviewOf(context: WalletContext, row: ProposalRow): Promise<WalletReview> {
  const { database, rails } = context;
  const { account_key: accountKey, app_id: appId } = row;
  const [name] = await selectAppNames(database, [{ accountKey, appId }]);
  const operation = operationOf(row);
  const app = { id: appId as ShownWalletProposal['appId'], name: name ?? appId };
  const isPayment = operation.type === 'platform.wallet.payment.v1';
  const currency = isPayment ? operation.amount.currency : operation.limits.currency;
  const rail = rails.of(currency);
  const before = (await rail?.balance(database, accountKey)) ?? 0n;
  const after = isPayment ? before - BigInt(operation.amount.value) : before;
  const balance = {
    ...{ currency, decimals: rail?.currency.decimals ?? 0, before: String(before) },
    after: after < 0n ? null : String(after),
  };
  const common = { app, balance, target: row.target };
  if (!isPayment) {
    const { addresses } = JSON.parse(row.recipients ?? '{"addresses":[]}') as { readonly addresses: string[] };
    const present = await policiesNaming(database, accountKey, operation.appIds);
    return { ...common, admittedBy: null, present: present.map(policyOf), recipients: addresses };
  }
  const limited = {
    accountKey,
    appId,
    payeeKey: row.recipient_key ?? '',
    currency,
    value: BigInt(operation.amount.value),
  };
  const admitted = await admitting(database, limited, context.clock());
  const admittedBy = admitted?.map(({ id, name }) => ({ id, name })) ?? null;
  return { ...common, admittedBy, present: [], recipients: [] };
}

/** @param reader whoever was paid sees no policies of the other */
export function receiptOf(row: ReceiptRow, reader: string): Receipt {
  return {
    id: row.id,
    at: row.at.toISOString(),
    operation: operationOf(row),
    assertion: JSON.parse(row.assertion) as Receipt['assertion'],
    policies: row.account_key === reader ? (JSON.parse(row.policies) as Receipt['policies']) : [],
  };
}

export async function readBalances(
  context: WalletContext,
  { accountKey, accountName }: { readonly accountKey: string; readonly accountName: string },
): Promise<RouteAnswer<'wallet.read'>> {
  const { database, rails } = context;
  const sides = await sidesOf(database, accountKey);
  const ofRails = await Promise.all(
    rails.all().map(async (rail) => ({
      ...{ currency: rail.currency.code, decimals: rail.currency.decimals },
      balance: String(await rail.balance(database, accountKey)),
    })),
  );
  // In currencies of former times.
  const former = sides
    .filter(({ currency, balance }) => rails.of(currency) === undefined && BigInt(balance) > 0n)
    .map(({ currency, decimals, balance }) => ({ currency, decimals, balance: String(balance) }));
  return { address: addressOf(context, accountName), balances: [...ofRails, ...former] };
}

/** Newest first. @throws RefusalError `invalid_cursor` */
export async function listEntries(
  { database, cursors }: CoreContext,
  accountKey: string,
  { limit, cursor, search = '' }: RouteQuery<'wallet.entries'>,
): Promise<ListPage<WalletEntry>> {
  const list = `wallet-entries:${accountKey}:${search}`;
  const before =
    cursor === undefined ? null : (cursors.decode(list, cursor) as { at: string; number: string; id: string });
  const wanted = search.trim() === '' ? null : search.trim();
  const rows = await selectEntries(database, accountKey, { before, limit: limit + 1, search: wanted });
  const items = rows.slice(0, limit).map(entryOf);
  const last = rows[items.length - 1];
  const more = rows.length > limit && last !== undefined;
  const at = more ? { at: last.at.toISOString(), number: String(last.number), id: last.id } : null;
  return { items, nextCursor: at === null ? null : cursors.encode(list, at) };
}

export function entryOf(row: EntryRow & { readonly currency: string }): WalletEntry {
  const { currency } = row;
  return {
    id: row.id,
    at: row.at.toISOString(),
    amount: { currency, value: String(row.amount) },
    balance: { currency, value: String(row.balance) },
    counterparty: row.counterparty,
    reference: row.reference,
    appId: row.app_id as WalletEntry['appId'],
    receiptId: row.receipt_id,
  };
}

/** Newest first. @throws RefusalError `invalid_cursor` */
export async function listPolicies(
  { database, cursors }: CoreContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'wallet.policies.list'>,
): Promise<RouteAnswer<'wallet.policies.list'>> {
  const list = `wallet-policies:${accountKey}`;
  const before = cursor === undefined ? null : String(cursors.decode(list, cursor));
  const rows = await selectPolicies(database, accountKey, { before, limit: limit + 1 });
  const items = rows.slice(0, limit).map(policyOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null };
}
