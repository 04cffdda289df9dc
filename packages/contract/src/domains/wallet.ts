// The wallet (contract 4h): apps propose payments and limits, their person approves each with a passkey, and a ledger keeps what happened.
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { appId, policyId, receiptId, timestamp, walletEntryId, walletProposalId } from '../primitives.ts';
import { isStorable, readableLine, visible } from '../text.ts';
import { secretFree } from './accounts.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { addressInput } from './messaging.ts';
import { assertionCredential, passkeyConfirmation } from './passkey-credentials.ts';

const limits = {
  walletProposalSeconds: {
    value: 86_400,
    unit: 'seconds',
    meaning: 'time in which a person decides on a proposed payment or wallet policy',
  },
  walletApprovalSeconds: {
    value: 120,
    unit: 'seconds',
    meaning: 'time in which a passkey approves a payment or wallet policy after it was asked for',
  },
  walletProposalsPending: {
    value: 20,
    unit: 'items',
    meaning: 'proposed payments and wallet policies of one installation that wait for a decision',
  },
  walletProposalDays: {
    value: 90,
    unit: 'days',
    meaning: 'time for which a proposed payment or wallet policy is kept after it expired; receipts stay',
  },
  walletAmountDigits: { value: 15, unit: 'characters', meaning: 'digits of an amount of money, in minor units' },
  walletReference: { value: 140, unit: 'characters', meaning: 'reference of a payment' },
  walletRecipients: { value: 1_000, unit: 'items', meaning: 'recipients of one wallet policy' },
  walletPolicies: { value: 100, unit: 'items', meaning: 'wallet policies of one account' },
  walletPolicyName: { value: 60, unit: 'characters', meaning: 'name of a wallet policy' },
  walletPolicyApps: { value: 100, unit: 'items', meaning: 'apps that one wallet policy names' },
  walletIdempotencyKey: { value: 128, unit: 'characters', meaning: 'idempotency key of a proposal to the wallet' },
  walletTarget: { value: 512, unit: 'characters', meaning: 'target of a proposed payment within its app' },
} as const satisfies Limits;

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

/** Minor units, without sign, leading zeros or exponent. */
export const amountValue = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a positive whole number of minor units with at most 15 digits');

export const walletCurrencyCode = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{2,9}$/, 'must be the code of a currency, such as CREDIT');

export const money = z.strictObject({ currency: walletCurrencyCode, value: amountValue });
export type Money = z.infer<typeof money>;

/** Of the ledger: it may be zero, and of an entry negative. */
const ledgerMoney = z.strictObject({ currency: z.string(), value: z.string().regex(/^(0|-?[1-9]\d{0,14})$/) });

const idempotencyKey = z
  .string()
  .min(1)
  .max(limits.walletIdempotencyKey.value)
  .refine(isStorable, 'must not contain NUL or unpaired surrogates');

export const proposePaymentBody = z.strictObject({
  /** An account of this platform. */
  to: addressInput,
  amount: money,
  /** What it is for, as both sides read it. */
  reference: z
    .string()
    .max(limits.walletReference.value)
    .regex(...readableLine)
    .optional(),
  /** Proposing again with the same key gives the same proposal. */
  idempotencyKey,
  /** Where the app is opened afterwards. */
  target: z
    .string()
    .max(limits.walletTarget.value)
    .regex(/^\?[!-~]*$/, 'must be a query that starts with ? and has no spaces')
    .refine((target) => !/[#\\]/.test(target), 'must not contain a fragment or backslash')
    .optional(),
});
export type ProposePayment = z.input<typeof proposePaymentBody>;

export const proposePolicyBody = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(limits.walletPolicyName.value)
    .regex(...readableLine)
    .regex(...visible),
  currency: walletCurrencyCode,
  /** In minor units. */
  perPayment: amountValue,
  /** Of all payments within 24 hours. */
  perDay: amountValue.optional(),
  /** Of all payments within 30 days. */
  perMonth: amountValue.optional(),
  /** Accounts of this platform. */
  recipients: z.array(addressInput).min(1).max(limits.walletRecipients.value),
  /** Default: every app. */
  appIds: z.array(appId).min(1).max(limits.walletPolicyApps.value).optional(),
  /** From then on it admits nothing, and the apps that it names may propose no payment until it is removed. */
  expiresAt: timestamp.optional(),
  idempotencyKey,
});
export type ProposePolicy = z.input<typeof proposePolicyBody>;

export const walletProposalState = z.enum(['pending', 'executed', 'declined', 'expired', 'failed']);
export type WalletProposalState = z.infer<typeof walletProposalState>;
export const walletProposalKind = z.enum(['payment', 'policy']);

export const walletProposal = z.strictObject({
  id: walletProposalId,
  kind: walletProposalKind,
  state: walletProposalState,
  createdAt: timestamp,
  expiresAt: timestamp,
  receipt: z.strictObject({ id: receiptId, at: timestamp }).nullable(),
});
export type WalletProposal = z.infer<typeof walletProposal>;

const nonce = z.string();

/** Exactly what a passkey signs: the challenge is the SHA-256 of its RFC 8785 form. */
export const paymentOperation = z.strictObject({
  type: z.literal('platform.wallet.payment.v1'),
  proposal: walletProposalId,
  from: z.string(),
  to: z.string(),
  amount: money,
  reference: z.string().nullable(),
  app: appId,
  expiresAt: timestamp,
  nonce,
});
export type PaymentOperation = z.infer<typeof paymentOperation>;

export const policyOperation = z.strictObject({
  type: z.literal('platform.wallet.policy.v1'),
  proposal: walletProposalId,
  account: z.string(),
  name: z.string(),
  limits: z.strictObject({
    currency: walletCurrencyCode,
    perPayment: amountValue,
    perDay: amountValue.nullable(),
    perMonth: amountValue.nullable(),
  }),
  /** RFC 9162, section 2.1, lower-case hex. */
  recipientsRoot: z.string().regex(/^[0-9a-f]{64}$/),
  recipientCount: z.int().positive(),
  /** `null`: every app. */
  appIds: z.array(appId).nullable(),
  /** Of the policy. */
  validUntil: timestamp.nullable(),
  app: appId,
  /** Of the proposal. */
  expiresAt: timestamp,
  nonce,
});
export type PolicyOperation = z.infer<typeof policyOperation>;

export const walletOperation = z.discriminatedUnion('type', [paymentOperation, policyOperation]);
export type WalletOperation = z.infer<typeof walletOperation>;

export const policy = z.strictObject({
  id: policyId,
  name: z.string(),
  currency: walletCurrencyCode,
  perPayment: amountValue,
  perDay: amountValue.nullable(),
  perMonth: amountValue.nullable(),
  recipientsRoot: z.string(),
  recipientCount: z.int(),
  appIds: z.array(appId).nullable(),
  expiresAt: timestamp.nullable(),
  createdAt: timestamp,
});
export type Policy = z.infer<typeof policy>;

/** What its person sees besides the operation before they decide. */
export const walletReview = z.strictObject({
  app: z.strictObject({ id: appId, name: z.string() }),
  balance: z.strictObject({
    currency: z.string(),
    decimals: z.int(),
    before: z.string(),
    after: z.string().nullable(),
  }),
  /** Of a payment: the policies that admit it; `null` where none names the app. */
  admittedBy: z.array(policy.pick({ id: true, name: true })).nullable(),
  /** Of a policy: those that name an app which it names, before it. */
  present: z.array(policy),
  /** Of a policy: the addresses, in the order given. */
  recipients: z.array(z.string()),
  target: z.string().nullable(),
});
export type WalletReview = z.infer<typeof walletReview>;

/** A passkey's approval, and with which key it is checked. */
export const approvalAssertion = z.strictObject({
  credential: assertionCredential,
  /** The public key of the passkey, COSE, base64url. */
  publicKey: z.string(),
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

export const wallet = { limits, errors, routes } as const;

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
