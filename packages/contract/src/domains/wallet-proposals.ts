// What apps propose to the wallet (contract 4h): payments and limits, as they are asked for, reviewed and signed.
import * as z from 'zod';
import type { Limits } from '../domain.ts';
import { appId, policyId, receiptId, timestamp, walletProposalId } from '../primitives.ts';
import { isStorable, readableLine, visible } from '../text.ts';
import { addressInput } from './messaging.ts';

export const walletLimits = {
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

/** Minor units, without sign, leading zeros or exponent. */
export const amountValue = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a positive whole number of minor units with at most 15 digits');

export const walletCurrencyCode = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{2,9}$/, 'must be the code of a currency, such as CREDIT');

export const money = z.strictObject({ currency: walletCurrencyCode, value: amountValue });
export type Money = z.infer<typeof money>;

const idempotencyKey = z
  .string()
  .min(1)
  .max(walletLimits.walletIdempotencyKey.value)
  .refine(isStorable, 'must not contain NUL or unpaired surrogates');

export const proposePaymentBody = z.strictObject({
  /** An account of this platform. */
  to: addressInput,
  amount: money,
  /** What it is for, as both sides read it. */
  reference: z
    .string()
    .max(walletLimits.walletReference.value)
    .regex(...readableLine)
    .optional(),
  /** Proposing again with the same key gives the same proposal. */
  idempotencyKey,
  /** Where the app is opened afterwards. */
  target: z
    .string()
    .max(walletLimits.walletTarget.value)
    .regex(/^\?[!-~]*$/, 'must be a query that starts with ? and has no spaces')
    .refine((target) => !/[#\\]/.test(target), 'must not contain a fragment or backslash')
    .optional(),
});
export type ProposePayment = z.input<typeof proposePaymentBody>;

export const proposePolicyBody = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(walletLimits.walletPolicyName.value)
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
  recipients: z.array(addressInput).min(1).max(walletLimits.walletRecipients.value),
  /** Default: every app. */
  appIds: z.array(appId).min(1).max(walletLimits.walletPolicyApps.value).optional(),
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
