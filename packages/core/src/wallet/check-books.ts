// Whether a chain of entries and its receipts are what was approved: the same for the database and for an export, from public keys alone.
import { type Receipt, type ReceiptId, receipt as receiptSchema } from '@platform/contract';
import { checkApproval, type Place, signerOf } from './assertion.ts';
import { type ChainedEntry, canonicalHash, chainStart, entryHash } from './chain.ts';
import { isIncluded } from './merkle.ts';
import type { Finding } from './rail.ts';

/** What receipts are compared with. */
export interface Known {
  /** Of receipts that do not name where they were approved. */
  readonly place: Place;
  /** The public key of a passkey of this address, base64url; `undefined` for a passkey that it never had. */
  keyOf(signer: string, credentialId: string): string | undefined;
  receiptOf(id: ReceiptId): Receipt | undefined;
}

/** What a side of the ledger says of itself. */
export interface SideState {
  readonly account: string;
  readonly currency: string;
  readonly balance: string;
  readonly entries: number;
  /** Lower-case hex. */
  readonly head: string;
}

export type HashedEntry = ChainedEntry & { readonly hash: string };

/** The entries of one side, checked one after the other. */
export class ChainCheck {
  readonly #side: SideState;
  readonly #isIssuer: boolean;
  #previous: string;
  #number = 0;
  #balance = 0n;

  constructor(side: SideState, { isIssuer }: { readonly isIssuer: boolean }) {
    this.#side = side;
    this.#isIssuer = isIssuer;
    this.#previous = chainStart(side.account, side.currency).toString('hex');
  }

  *add({ hash, ...entry }: HashedEntry): Generator<Finding> {
    const finding = (what: string): Finding => ({ of: entry.id, what });
    const { account, currency } = this.#side;
    this.#number += 1;
    if (entry.account !== account || entry.currency !== currency) yield finding('is of another side of the ledger');
    if (entry.number !== this.#number) yield finding(`has the number ${entry.number} instead of ${this.#number}`);
    if (entry.previous !== this.#previous) yield finding('does not follow the entry before it');
    if (entryHash(entry).toString('hex') !== hash) yield finding('is not what its hash says');
    this.#balance += BigInt(entry.amount);
    if (entry.balance !== String(this.#balance)) yield finding(`its balance should be ${this.#balance}`);
    if (this.#balance < 0n && !this.#isIssuer) yield finding('its balance is negative');
    const isApproved = entry.receiptId !== null && entry.operationHash !== null && entry.assertionHash !== null;
    if (entry.kind === 'payment' && !isApproved) yield finding('is a payment that nobody approved');
    if (entry.kind !== 'payment' && entry.receiptId !== null) yield finding('has a receipt and is no payment');
    const comesIn = BigInt(entry.amount) > 0n;
    if (entry.kind === 'credit' && comesIn === this.#isIssuer) yield finding('is a credit in the wrong direction');
    if (entry.kind === 'return' && comesIn !== this.#isIssuer) yield finding('is a return in the wrong direction');
    this.#previous = hash;
    this.#number = entry.number;
    this.#balance = BigInt(entry.balance);
  }

  *end(): Generator<Finding> {
    const { account, entries, head, balance } = this.#side;
    const finding = (what: string): Finding => ({ of: account, what });
    if (this.#number !== entries) yield finding(`has ${this.#number} entries instead of ${entries}`);
    if (this.#previous !== head) yield finding('its newest entry is another one');
    if (String(this.#balance) !== balance) yield finding(`has the balance ${balance} instead of ${this.#balance}`);
  }
}

/** A receipt: what was approved, whose passkey signed it, and what admitted it. */
export async function* checkReceipt(given: unknown, known: Known): AsyncGenerator<Finding> {
  const read = receiptSchema.safeParse(given);
  const id = String((given as { readonly id?: unknown } | null)?.id);
  if (!read.success) {
    yield { of: id, what: 'is malformed' };
    return;
  }
  const { operation, assertion } = read.data;
  const fault = await checkApproval(assertion, canonicalHash(operation), known.place);
  if (fault !== null) yield { of: id, what: fault };
  const signer = signerOf(operation);
  const key = known.keyOf(signer, assertion.credential.id);
  if (key === undefined) yield { of: id, what: `is signed with no passkey of ${signer}` };
  else if (key !== assertion.publicKey)
    yield { of: id, what: `is signed with another key than the passkey of ${signer} has` };
  for (const policy of read.data.policies) {
    const what = policyFault(policy, read.data, known.receiptOf(approvalOf(policy)));
    if (what !== null) yield { of: id, what: `its policy ${policy.policyId} ${what}` };
  }
}

type Admitted = Receipt['policies'][number];

/** The receipt by which the person approved a policy. */
export function approvalOf({ policyId }: Pick<Admitted, 'policyId'>): ReceiptId {
  return policyId.replace('pol-', 'rcp-') as ReceiptId;
}

/** Why the policy does not admit what the receipt is of; `null` where it does. */
function policyFault(
  { leaf, index, size, root, proof }: Admitted,
  { operation: payment, at }: Receipt,
  approval: Receipt | undefined,
): string | null {
  if (!isIncluded({ entry: hex(leaf), index, size, proof: proof.map(hex) }, hex(root)))
    return 'does not include the recipient';
  const policy = approval?.operation;
  if (policy?.type !== 'platform.wallet.policy.v1') return 'was never approved';
  if (payment.type !== 'platform.wallet.payment.v1' || policy.account !== payment.from) return 'is of another account';
  if (policy.recipientsRoot !== root || policy.recipientCount !== size)
    return 'has other recipients than were approved';
  const { currency, perPayment } = policy.limits;
  const isAdmitted =
    currency === payment.amount.currency &&
    BigInt(payment.amount.value) <= BigInt(perPayment) &&
    (policy.appIds?.includes(payment.app) ?? true) &&
    (approval?.at ?? at) <= at &&
    (policy.validUntil === null || at < new Date(policy.validUntil).toISOString());
  return isAdmitted ? null : 'does not admit this payment';
}

/** An entry of a payment against its receipt. @param hasPolicies whether the receipt tells them, as to who paid */
export function* checkPayment(
  entry: ChainedEntry,
  receipt: Receipt | undefined,
  hasPolicies: boolean,
): Generator<Finding> {
  const finding = (what: string): Finding => ({ of: entry.id, what });
  if (receipt === undefined) {
    yield finding('its receipt is missing');
    return;
  }
  const { operation, assertion, policies, at } = receipt;
  if (operation.type !== 'platform.wallet.payment.v1') {
    yield finding('its receipt is of no payment');
    return;
  }
  const paid = BigInt(entry.amount) < 0n;
  if (canonicalHash(operation).toString('hex') !== entry.operationHash)
    yield finding('its receipt is of another payment');
  if (canonicalHash(assertion).toString('hex') !== entry.assertionHash) yield finding('its assertion is another one');
  if (paid && hasPolicies && canonicalHash(policies).toString('hex') !== entry.policiesHash)
    yield finding('its policies are other ones');
  if (at !== entry.at) yield finding('its receipt is of another time');
  const { amount, from, to, reference, app } = operation;
  if (amount.currency !== entry.currency || BigInt(amount.value) !== BigInt(entry.amount) * (paid ? -1n : 1n))
    yield finding('has another amount than was approved');
  if (entry.counterparty !== (paid ? to : from)) yield finding('has another counterparty than was approved');
  if (entry.reference !== reference) yield finding('has another reference than was approved');
  if (entry.appId !== (paid ? app : null)) yield finding('is of another app than was approved');
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
