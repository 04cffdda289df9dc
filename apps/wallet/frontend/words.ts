// Amounts, people and proposals as the person reads them.
import type {
  Policy,
  ShownWalletProposal,
  WalletBalances,
  WalletEntry,
  WalletProposalState,
} from '@platform/sdk/browser';

export type Currency = Pick<WalletBalances['balances'][number], 'currency' | 'decimals'>;

/** @param value minor units */
export function moneyText(value: string, { currency, decimals }: Currency): string {
  const digits = value.replace('-', '').padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = decimals === 0 ? '' : `.${digits.slice(digits.length - decimals)}`;
  return `${value.startsWith('-') ? '−' : ''}${whole}${fraction} ${currency}`;
}

/** What somebody typed as minor units; `null` for what is no amount. A comma may stand for the point. */
export function minorUnits(typed: string, { decimals }: Currency): string | null {
  const [, whole = '', fraction = ''] = /^(\d{1,15})(?:[.,](\d*))?$/.exec(typed.trim()) ?? [];
  if (whole === '' || fraction.length > decimals) return null;
  const value = `${whole}${fraction.padEnd(decimals, '0')}`.replace(/^0+(?=\d)/, '');
  return value === '0' || value.length > 15 ? null : value;
}

/** With its id: several apps can have one name. */
export function appText(appId: string, names: ReadonlyMap<string, string>): string {
  const name = names.get(appId);
  return name === undefined || name === appId ? appId : `${name} (${appId})`;
}

/** Decimals of a currency that the platform no longer uses are unknown: minor units then. */
export function currencyOf(code: string, balances: readonly Currency[]): Currency {
  return balances.find(({ currency }) => currency === code) ?? { currency: code, decimals: 0 };
}

/** Without the part that is the same for everybody here. */
export function shortName(address: string, own: string): string {
  const server = own.slice(own.indexOf('@'));
  return address.endsWith(server) ? address.slice(0, -server.length) : address;
}

export function otherOf({ counterparty, amount }: WalletEntry, own: string): string {
  if (counterparty !== null) return shortName(counterparty, own);
  return amount.value.startsWith('-') ? 'Back to the operator' : 'The operator';
}

export function whenText(iso: string): string {
  return new Date(iso).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}

export const STATES: Readonly<Record<WalletProposalState, string>> = {
  pending: 'Waits for you',
  executed: 'Done',
  declined: 'Declined',
  expired: 'Expired',
  failed: 'Failed',
};

export function proposalTitle({ operation }: ShownWalletProposal, balances: readonly Currency[], own: string): string {
  if (operation.type === 'platform.wallet.policy.v1') return `Policy “${operation.name}”`;
  const { amount, to } = operation;
  return `${moneyText(amount.value, currencyOf(amount.currency, balances))} to ${shortName(to, own)}`;
}

/** A sentence about how much a policy allows. */
export function policyText(policy: Policy, balances: readonly Currency[]): string {
  const money = (value: string) => moneyText(value, currencyOf(policy.currency, balances));
  const parts = [`At most ${money(policy.perPayment)} a payment`];
  if (policy.perDay !== null) parts.push(`${money(policy.perDay)} in 24 hours`);
  if (policy.perMonth !== null) parts.push(`${money(policy.perMonth)} in 30 days`);
  const people = policy.recipientCount === 1 ? 'one person' : `${policy.recipientCount} people`;
  return `${parts.join(', ')}, to ${people}`;
}
