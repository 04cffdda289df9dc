// The wallet (contract 4h): apps propose payments and limits, their person approves each with a passkey, and a ledger keeps what happened.
import * as z from 'zod';
import { type Errors, MiB, type Routes } from '../domain.ts';
import { appId, policyId, receiptId, timestamp, walletEntryId, walletProposalId } from '../primitives.ts';
import { secretFree } from './accounts.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { assertionCredential, passkeyConfirmation } from './passkey-credentials.ts';
import {
  type Policy,
  type ProposePayment,
  type ProposePolicy,
  policy,
  proposePaymentBody,
  proposePolicyBody,
  type WalletProposal,
  walletLimits,
  walletOperation,
  walletProposal,
  walletProposalState,
  walletReview,
} from './wallet-proposals.ts';

const errors = {
  policy_refused: {
    status: 403,
    title: 'No wallet policy that names this app admits the payment.',
    help: 'The person limited what this app may propose: amount, sum of a day or month, recipients, or time. They can change that in Wallet.',
  },
  insufficient_funds: {
    status: 409,
    title: 'The balance is too low for this payment.',
    help: 'Nothing was paid, and the proposal still waits. Approve it once there is enough.',
  },
} as const satisfies Errors;

/** Of the ledger: it may be zero, and of an entry negative. */
const ledgerMoney = z.strictObject({ currency: z.string(), value: z.string().regex(/^(0|-?[1-9]\d{0,14})$/) });

/** A passkey's approval, and with which key it is checked. */
export const approvalAssertion = z.strictObject({
  credential: assertionCredential,
  /** The public key of the passkey, COSE, base64url. */
  publicKey: z.string(),
  /** Where it was made: the origin of the shell and the relying party of then. Receipts of former times name none. */
  origin: z.string().optional(),
  rpId: z.string().optional(),
});
export type ApprovalAssertion = z.infer<typeof approvalAssertion>;

export const receipt = z.strictObject({
  id: receiptId,
  at: timestamp,
  operation: walletOperation,
  assertion: approvalAssertion,
  /** That admitted the payment, each with the proof that the recipient is in its tree. */
  policies: z.array(
    z.strictObject({
      /** It has the UUID of the receipt that approved it. */
      policyId,
      /** SHA-256 of the id of the account, the entry of the tree; lower-case hex, as the root and the proof. */
      leaf: z.string(),
      index: z.int(),
      size: z.int(),
      root: z.string(),
      proof: z.array(z.string()),
    }),
  ),
});
export type Receipt = z.infer<typeof receipt>;

export const walletEntry = z.strictObject({
  id: walletEntryId,
  at: timestamp,
  amount: ledgerMoney,
  balance: ledgerMoney,
  /** An address; `null` for the operator. */
  counterparty: z.string().nullable(),
  reference: z.string().nullable(),
  /** Of the account's apps, the one that proposed it. */
  appId: appId.nullable(),
  receiptId: receiptId.nullable(),
});
export type WalletEntry = z.infer<typeof walletEntry>;

export const walletBalances = z.strictObject({
  balances: z.array(z.strictObject({ currency: z.string(), decimals: z.int(), balance: z.string() })),
});
export type WalletBalances = z.infer<typeof walletBalances>;

const proposalAnswer = z.strictObject({ proposal: walletProposal });
const ofProposal = z.strictObject({ id: walletProposalId });
const shownProposal = walletProposal.extend({ appId, operation: walletOperation });
export type ShownWalletProposal = z.infer<typeof shownProposal>;

const forApps = { callers: ['frontend', 'installation'], rate: 'service' } as const;
const bySession = { callers: ['session'], rate: 'session' } as const;
const REFUSED_PAYMENT = ['policy_refused', 'proposal_conflict'] as const;
const POLICY_BODY = 1 * MiB;

const routes = {
  'services.wallet.payments': {
    ...forApps,
    method: 'POST',
    path: '/v1/services/wallet/payments',
    summary: 'Propose a payment to the person',
    grant: { id: 'wallet.payment.propose', resource: '*' },
    body: json(proposePaymentBody),
    answers: { 201: proposalAnswer },
    refuses: REFUSED_PAYMENT,
    fillsDatabase: true,
  },
  'services.wallet.policies': {
    ...forApps,
    method: 'POST',
    path: '/v1/services/wallet/policies',
    summary: 'Propose a limit on what apps may propose to pay',
    grant: { id: 'wallet.policy.propose', resource: '*' },
    body: json(proposePolicyBody, POLICY_BODY),
    answers: { 201: proposalAnswer },
    refuses: ['proposal_conflict'],
    fillsDatabase: true,
  },
  'services.wallet.proposal': {
    ...forApps,
    method: 'GET',
    path: '/v1/services/wallet/proposals/:id',
    summary: 'What became of a proposal of this app',
    grant: { id: 'wallet.payment.propose', or: ['wallet.policy.propose'], resource: 'any' },
    params: ofProposal,
    answers: { 200: proposalAnswer },
  },
  'apps.wallet.payments': {
    ...bySession,
    method: 'POST',
    path: '/v1/apps/:appId/wallet/payments',
    summary: 'Propose a payment for the page of an app, with the app’s own grants',
    origin: 'shell',
    confirms: { nothing: 'a proposal pays nothing' },
    params: z.strictObject({ appId }),
    body: json(proposePaymentBody),
    answers: { 201: proposalAnswer },
    refuses: [...REFUSED_PAYMENT, 'grant_missing', 'runtime_paused'],
    fillsDatabase: true,
  },
  'apps.wallet.policies': {
    ...bySession,
    method: 'POST',
    path: '/v1/apps/:appId/wallet/policies',
    summary: 'Propose a limit for the page of an app, with the app’s own grants',
    origin: 'shell',
    confirms: { nothing: 'a proposal changes no limit' },
    params: z.strictObject({ appId }),
    body: json(proposePolicyBody, POLICY_BODY),
    answers: { 201: proposalAnswer },
    refuses: ['proposal_conflict', 'grant_missing', 'runtime_paused'],
    fillsDatabase: true,
  },
  'wallet.read': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet',
    summary: 'What the account has',
    answers: { 200: walletBalances.extend({ address: z.string() }) },
  },
  'wallet.entries': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet/entries',
    summary: 'The statement, newest first',
    /** `search`: what counterparty or reference contain. */
    query: pageQuery.extend({ search: z.string().max(100).optional() }),
    answers: { 200: page(walletEntry) },
  },
  'wallet.proposals.list': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet/proposals',
    summary: 'What apps proposed, newest first',
    query: pageQuery.extend({ state: walletProposalState.optional() }),
    answers: { 200: page(shownProposal) },
  },
  'wallet.proposals.read': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet/proposals/:id',
    summary: 'A proposal, the operation that a passkey signs, and what follows from it',
    params: ofProposal,
    answers: { 200: z.strictObject({ proposal: walletProposal, operation: walletOperation, review: walletReview }) },
  },
  'wallet.proposals.approve': {
    ...bySession,
    method: 'POST',
    path: '/v1/wallet/proposals/:id/approve',
    summary: 'Carry a proposal out, once, with a passkey that signed exactly its operation',
    origin: 'shell',
    confirms: { oneOf: ['wallet.payment', 'wallet.policy'] },
    params: ofProposal,
    body: secretFree(z.strictObject({ confirmation: passkeyConfirmation })),
    answers: { 200: z.strictObject({ proposal: walletProposal, receipt }) },
    refuses: [...REFUSED_PAYMENT, 'insufficient_funds', 'runtime_paused'],
  },
  'wallet.proposals.decline': {
    ...bySession,
    method: 'POST',
    path: '/v1/wallet/proposals/:id/decline',
    summary: 'Decline a proposal',
    origin: 'shell',
    confirms: { nothing: 'declines what an app proposed' },
    params: ofProposal,
    body: json(emptyBody.optional()),
    answers: { 200: proposalAnswer },
    refuses: ['proposal_conflict'],
  },
  'wallet.policies.list': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet/policies',
    summary: 'Limits on what apps may propose to pay, newest first',
    query: pageQuery,
    answers: { 200: page(policy) },
  },
  'wallet.policies.remove': {
    ...bySession,
    method: 'DELETE',
    path: '/v1/wallet/policies/:id',
    summary: 'Remove a limit',
    origin: 'shell',
    confirms: { nothing: 'a limit approves nothing: every payment needs the passkey as before' },
    params: z.strictObject({ id: policyId }),
    answers: { 204: null },
  },
  'wallet.receipt': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet/receipts/:id',
    summary: 'What was approved, by which passkey, and the proof of each policy that admitted it',
    params: z.strictObject({ id: receiptId }),
    answers: { 200: z.strictObject({ receipt }) },
  },
  'wallet.export': {
    ...bySession,
    method: 'GET',
    path: '/v1/wallet/export',
    summary: 'The whole statement; as JSON with everything that verifies it',
    query: z.strictObject({ format: z.enum(['csv', 'json']) }),
    answers: { 200: '*/*' },
    refuses: ['concurrency_limited'],
  },
} as const satisfies Routes;

export const wallet = { limits: walletLimits, errors, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Grant `wallet.payment.propose`; only for the app in front. Proposes as `POST /v1/services/wallet/payments` and opens the shell's
     * review. The answer comes when the person decided or closed it: then the proposal is still `pending`, and waits in Wallet.
     */
    'wallet.proposePayment': { params: ProposePayment; result: { readonly proposal: WalletProposal }; asks: true };
    /** The same for a limit, with the grant `wallet.policy.propose`. */
    'wallet.proposePolicy': { params: ProposePolicy; result: { readonly proposal: WalletProposal }; asks: true };
    /** Only for the platform's own Wallet, like all that follow: what the account has, and its address. */
    'wallet.read': { params: undefined; result: WalletBalances & { readonly address: string } };
    'wallet.entries': {
      params: { readonly search?: string | undefined; readonly cursor?: string | undefined };
      result: BridgePage<WalletEntry>;
    };
    'wallet.proposals': { params: { readonly cursor?: string | undefined }; result: BridgePage<ShownWalletProposal> };
    /** Opens the shell's review of a proposal of whichever app. */
    'wallet.review': { params: { readonly id: string }; result: { readonly proposal: WalletProposal }; asks: true };
    'wallet.policies': { params: { readonly cursor?: string | undefined }; result: BridgePage<Policy> };
    'wallet.removePolicy': { params: { readonly id: string }; result: null };
    'wallet.receipt': { params: { readonly id: string }; result: Receipt };
    /** The shell saves the statement. */
    'wallet.export': { params: { readonly format: 'csv' | 'json' }; result: { readonly saved: boolean }; asks: true };
  }
}
