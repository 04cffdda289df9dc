// What a person decides on a proposal. An approval carries out exactly the operation that the passkey signed, once, in the transaction that
// records the passkey's use; a proposal that may not be carried out any more has failed.
import {
  type ErrorCode,
  limits,
  type PasskeyConfirmation,
  type PaymentOperation,
  type PolicyOperation,
  paymentOperation,
  policyId,
  policyOperation,
  type Receipt,
  type ReceiptId,
  receiptId,
  refuse,
  type WalletOperation,
} from '@platform/contract';
import { confirmed, publicKeyOf, type Refused, type SessionCaller } from '../accounts/face.ts';
import { newId } from '../credentials/ids.ts';
import type { Changing } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import { allows } from '../grants/grant-coverage.ts';
import { lockOwn } from '../installations/face.ts';
import { admitting, proven } from './admit-payment.ts';
import { assertionOf, signedChallenge, signerOf } from './assertion.ts';
import { canonicalHash } from './chain.ts';
import { keepKey } from './key-queries.ts';
import { insertReceipt, type ReceiptRow } from './ledger-queries.ts';
import { queueNotice } from './notice-queries.ts';
import { holdPerson, isPaused } from './people-queries.ts';
import { countPolicies, insertPolicy, insertUses } from './policy-queries.ts';
import { findProposal, lockPending, type ProposalRow, settleProposal } from './proposal-queries.ts';
import type { WalletContext } from './propose.ts';
import { isShortage } from './rail.ts';

export interface WalletApproval {
  readonly id: string;
  readonly session: SessionCaller;
  readonly confirmation: PasskeyConfirmation;
  readonly refused: Refused;
}

/** Why a proposal failed for good. */
interface Failed {
  readonly code: Extract<ErrorCode, 'policy_refused' | 'proposal_conflict'>;
  readonly detail: string | undefined;
}

type Outcome = { readonly receipt: ReceiptRow } | { readonly failed: Failed };

/**
 * @throws RefusalError `not_found`; `proposal_conflict` for one that is decided or has expired; `policy_refused` and `proposal_conflict` for
 *   one that has failed now; `insufficient_funds` and `runtime_paused`, after which it still waits; `verification_failed`
 */
export async function approveProposal(context: WalletContext, approval: WalletApproval): Promise<ReceiptRow> {
  const { id, session, confirmation, refused } = approval;
  const { accountKey } = session;
  const found = await findProposal(context.database, { accountKey }, id);
  if (found === undefined) throw refuse('not_found');
  const operation = found.kind === 'payment' ? 'wallet.payment' : 'wallet.policy';
  const confirming = { caller: session, operation, subject: id, locksAccount: true, confirmation, refused } as const;
  const outcome = await confirmed(context, confirming, async (trx, passkeyId): Promise<Outcome> => {
    const now = context.clock();
    // Before the proposal, as by the removal of the app.
    const failed = await mayPropose(trx, found);
    const row = await lockPending(trx, { id, accountKey, now });
    if (row === undefined) throw decided();
    // The challenge was made of this operation, which never changes.
    if (!signedChallenge(confirmation.credential).equals(row.operation_hash))
      throw refused('challenge-of-another-subject');
    if (await isPaused(trx, accountKey))
      throw refuse('runtime_paused', 'Everything is paused. Resume it first; the proposal waits.');
    const carried =
      failed ?? (await carryOut(context, trx, row, { passkeyId, credential: confirmation.credential, now }));
    const settled =
      'receipt' in carried
        ? ({ state: 'executed', receiptId: carried.receipt.id, at: carried.receipt.at } as const)
        : ({ state: 'failed' } as const);
    await settleProposal(trx, { id, accountKey, now }, settled);
    await notify(trx, 'wallet-changed', { accountKey });
    await context.at('wallet.approve.committing');
    return carried;
  });
  await context.at('wallet.approve.committed');
  if ('failed' in outcome) throw refuse(outcome.failed.code, outcome.failed.detail);
  return outcome.receipt;
}

/** @throws RefusalError `not_found`; `proposal_conflict` for one that is not pending */
export async function declineProposal(context: WalletContext, accountKey: string, id: string): Promise<ProposalRow> {
  return context.database.transaction().execute(async (trx) => {
    const declined = await settleProposal(trx, { id, accountKey, now: context.clock() }, { state: 'declined' });
    const row = await findProposal(trx, { accountKey }, id);
    if (row === undefined) throw refuse('not_found');
    if (!declined) throw decided();
    await notify(trx, 'wallet-changed', { accountKey });
    return row;
  });
}

function decided() {
  return refuse('proposal_conflict', 'It is decided or has expired.');
}

function failure(detail: string, code: Failed['code'] = 'proposal_conflict'): { readonly failed: Failed } {
  return { failed: { code, detail } };
}

/** Whether the app that proposed it is there and may still propose. */
async function mayPropose(trx: Changing, row: ProposalRow): Promise<{ readonly failed: Failed } | null> {
  const app = await lockOwn(trx, row.account_key, row.app_id);
  const needed = row.kind === 'payment' ? 'wallet.payment.propose' : 'wallet.policy.propose';
  return app?.id === row.installation_id && allows(app.grants, needed, '*')
    ? null
    : failure('The app that proposed it was removed, or may not propose any more.');
}

interface Signed {
  readonly passkeyId: string;
  readonly credential: PasskeyConfirmation['credential'];
  readonly now: Date;
}

function carryOut(context: WalletContext, trx: Changing, row: ProposalRow, signed: Signed): Promise<Outcome> {
  const operation: unknown = JSON.parse(row.operation);
  return row.kind === 'payment'
    ? pay(context, trx, { row, operation: paymentOperation.parse(operation), signed })
    : limit(context, trx, { row, operation: policyOperation.parse(operation), signed });
}

async function pay(
  context: WalletContext,
  trx: Changing,
  { row, operation, signed }: { row: ProposalRow; operation: PaymentOperation; signed: Signed },
): Promise<Outcome> {
  const { account_key: accountKey, app_id: appId, recipient_key: payeeKey } = row;
  const { currency, value } = operation.amount;
  const rail = context.rails.of(currency);
  if (rail === undefined) return failure(`This platform no longer pays in ${currency}.`);
  const payee = payeeKey === null ? undefined : await holdPerson(trx, payeeKey);
  if (payee === undefined)
    return failure(`${operation.to} can no longer be paid: the account was suspended or deleted.`);
  const limited = { accountKey, appId, payeeKey: payee.key, currency, value: BigInt(value) };
  const admitted = await admitting(trx, limited, signed.now);
  if (admitted?.length === 0)
    return failure('None of your policies for this app admits this payment any more.', 'policy_refused');
  const { from, to, reference } = operation;
  const payment = { payerKey: accountKey, payeeKey: payee.key, from, to, value: BigInt(value), reference, appId };
  const reserved = await rail.reserve(trx, payment);
  if (reserved === 'insufficient-funds') throw refuse('insufficient_funds');
  if (isShortage(reserved)) return failure(`${operation.to} cannot hold more.`);
  try {
    const policies = await proven(trx, admitted ?? [], payee.key);
    const receipt = await keepReceipt(context, trx, { row, operation, signed, policies, payeeKey: payee.key });
    const { operation_hash: operationHash, assertion_hash: assertionHash } = receipt;
    const hashes = { operationHash, assertionHash, policiesHash: canonicalHash(policies) };
    await rail.execute(trx, reserved, { receiptId: receipt.id, at: signed.now, ...hashes });
    await insertUses(
      trx,
      policies.map(({ policyId: id }) => ({ policy_id: id, receipt_id: receipt.id, at: signed.now, amount: value })),
    );
    await queueNotice(context, trx, payee.key, { kind: 'received', from, value, currency, reference });
    await notify(trx, 'wallet-changed', { accountKey: payee.key });
    return { receipt };
  } catch (error) {
    await rail.reverse(reserved);
    throw error;
  }
}

async function limit(
  context: WalletContext,
  trx: Changing,
  { row, operation, signed }: { row: ProposalRow; operation: PolicyOperation; signed: Signed },
): Promise<Outcome> {
  const most = limits.walletPolicies.value;
  if ((await countPolicies(trx, row.account_key)) >= most)
    return failure(`An account has at most ${most} policies. Remove one, and have it proposed again.`);
  if (operation.validUntil !== null && Date.parse(operation.validUntil) <= signed.now.getTime())
    return failure('The time of this policy is over.');
  const receipt = await keepReceipt(context, trx, { row, operation, signed, policies: [], payeeKey: null });
  const { entries } = JSON.parse(row.recipients ?? '{}') as { readonly entries: readonly string[] };
  await insertPolicy(trx, {
    // The receipt of a payment leads to the approval of the policy that admitted it.
    id: policyId.parse(receipt.id.replace('rcp-', 'pol-')),
    account_key: row.account_key,
    name: operation.name,
    currency: operation.limits.currency,
    per_payment: operation.limits.perPayment,
    per_day: operation.limits.perDay,
    per_month: operation.limits.perMonth,
    root: Buffer.from(operation.recipientsRoot, 'hex'),
    leaves: entries.map((entry) => Buffer.from(entry, 'hex')),
    app_ids: operation.appIds,
    expires_at: operation.validUntil === null ? null : new Date(operation.validUntil),
    created_at: signed.now,
  });
  return { receipt };
}

async function keepReceipt(
  context: WalletContext,
  trx: Changing,
  {
    row,
    operation,
    signed,
    policies,
    payeeKey,
  }: {
    row: ProposalRow;
    operation: WalletOperation;
    signed: Signed;
    policies: Receipt['policies'];
    payeeKey: string | null;
  },
): Promise<ReceiptRow> {
  const publicKey = await publicKeyOf(trx, signed.passkeyId);
  const key = { signer: signerOf(operation), credential_id: signed.passkeyId, public_key: publicKey };
  if (!(await keepKey(trx, { ...key, first_used_at: signed.now }))) throw refuse('verification_failed');
  const { text, hash } = assertionOf(signed.credential, publicKey, context.config);
  const id: ReceiptId = receiptId.parse(newId('rcp', context));
  const receipt: ReceiptRow = {
    ...{ id, at: signed.now, account_key: row.account_key, payee_key: payeeKey },
    ...{ operation: row.operation, operation_hash: row.operation_hash },
    ...{ assertion: text, assertion_hash: hash, policies: JSON.stringify(policies) },
  };
  await insertReceipt(trx, receipt);
  return receipt;
}
