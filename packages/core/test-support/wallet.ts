// A wallet in tests: an app that proposes, credits of the operator, approvals by the passkey.
import assert from 'node:assert/strict';
import type {
  Grant,
  ProposePayment,
  ProposePolicy,
  Receipt,
  WalletEntry,
  WalletOperation,
  WalletProposal,
  WalletReview,
} from '@platform/contract';
import { confirm, type TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import type { InstalledTestApp } from '../../../tests/support/installed-app.ts';
import { findAccount } from '../src/accounts/face.ts';
import { creditAccount, type Finding, verifyNow } from '../src/wallet/face.ts';

export const WALLET_GRANTS: Grant[] = [
  { id: 'wallet.payment.propose', resources: ['*'] },
  { id: 'wallet.policy.propose', resources: ['*'] },
];

export interface ReadProposal {
  readonly proposal: WalletProposal;
  readonly operation: WalletOperation;
  readonly review: WalletReview;
}

let keys = 0;

export function newKey(): string {
  keys += 1;
  return `key-${keys}`;
}

/** @param to a name */
export function payment(to: string, value: string, more: Partial<ProposePayment> = {}): ProposePayment {
  return { to, amount: { currency: 'CREDIT', value }, idempotencyKey: newKey(), ...more };
}

export function policyFor(recipients: readonly string[], more: Partial<ProposePolicy> = {}): ProposePolicy {
  const body = { name: 'Friends', currency: 'CREDIT', perPayment: '500', idempotencyKey: newKey() };
  return { ...body, recipients: [...recipients], ...more };
}

export async function credit({ core }: Pick<Constellation, 'core'>, name: string, value: bigint): Promise<void> {
  const account = await findAccount(core.context, name);
  await creditAccount(core.context, account?.key ?? assert.fail(name), { value, reason: 'for tests' });
}

export async function propose(
  app: Pick<InstalledTestApp, 'call'>,
  body: ProposePayment | ProposePolicy,
): Promise<WalletProposal> {
  const path = `/v1/services/wallet/${'to' in body ? 'payments' : 'policies'}`;
  const answer = await app.call(path, { body });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { proposal: WalletProposal }).proposal;
}

export const readProposal = (account: TestAccount, id: string): Promise<ReadProposal> =>
  account.browser.take<ReadProposal>(`/v1/wallet/proposals/${id}`);

/** With the passkey, whatever comes of it. */
export async function tryApprove(account: TestAccount, { id, kind }: Pick<WalletProposal, 'id' | 'kind'>) {
  const confirmation = await confirm(account, `wallet.${kind}`, id);
  return account.fetch(`/v1/wallet/proposals/${id}/approve`, { body: { confirmation } });
}

export async function approve(
  account: TestAccount,
  proposal: Pick<WalletProposal, 'id' | 'kind'>,
): Promise<{ proposal: WalletProposal; receipt: Receipt }> {
  const answer = await tryApprove(account, proposal);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as { proposal: WalletProposal; receipt: Receipt };
}

export async function balanceOf(account: TestAccount, currency = 'CREDIT'): Promise<string> {
  const { balances } = await account.browser.take<{ balances: { currency: string; balance: string }[] }>('/v1/wallet');
  return balances.find((one) => one.currency === currency)?.balance ?? assert.fail(currency);
}

export const entriesOf = async (account: TestAccount, query = ''): Promise<WalletEntry[]> =>
  (await account.browser.take<{ items: WalletEntry[] }>(`/v1/wallet/entries${query}`)).items;

export async function findings({ core }: Pick<Constellation, 'core'>): Promise<Finding[]> {
  return verifyNow(core.context.database, core.context.config);
}
