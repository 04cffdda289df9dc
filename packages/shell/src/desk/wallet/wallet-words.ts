// What a payment and a limit are called in the review.
import type { Policy, PolicyOperation, WalletReview } from '@platform/contract';

/** @param value minor units */
export function moneyInWords(value: string, currency: string, decimals: number): string {
  const digits = value.replace('-', '').padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = decimals === 0 ? '' : `.${digits.slice(digits.length - decimals)}`;
  return `${value.startsWith('-') ? '−' : ''}${whole}${fraction} ${currency}`;
}

type Limits = Pick<Policy, 'perPayment' | 'perDay' | 'perMonth'> & { readonly currency: string };

/** How much, in a sentence without its end. */
export function limitsInWords({ perPayment, perDay, perMonth, currency }: Limits, decimals: number): string {
  const money = (value: string) => moneyInWords(value, currency, decimals);
  const parts = [`${money(perPayment)} a payment`];
  if (perDay !== null) parts.push(`${money(perDay)} in 24 hours`);
  if (perMonth !== null) parts.push(`${money(perMonth)} in 30 days`);
  return `at most ${parts.join(', ')}`;
}

export function peopleInWords(count: number): string {
  return count === 1 ? 'one person' : `${count.toLocaleString('en')} people`;
}

/** Which apps a limit names. @param nameOf an app that is not installed by its id */
export function appsInWords(appIds: readonly string[] | null, nameOf: (appId: string) => string): string {
  if (appIds === null) return 'Every app';
  const names = appIds.map(nameOf);
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** What may be proposed before and after a limit is added. */
export function difference(
  operation: PolicyOperation,
  { present, balance }: Pick<WalletReview, 'present' | 'balance'>,
): { readonly before: readonly string[]; readonly after: string } {
  const { limits, recipientCount, appIds } = operation;
  const one = (given: Limits, count: number) => `${limitsInWords(given, balance.decimals)}, to ${peopleInWords(count)}`;
  // Whom of these apps nothing limits until now.
  const isFree = (appId: string) => !present.some(({ appIds: named }) => named === null || named.includes(appId));
  const free = appIds === null ? present.length === 0 : appIds.some(isFree);
  const before = present.map((policy) => `“${policy.name}”: ${one(policy, policy.recipientCount)}`);
  return {
    before: free
      ? [...before, before.length === 0 ? 'Any amount, to anyone' : 'Without such a policy: any amount, to anyone']
      : before,
    after: one({ ...limits }, recipientCount),
  };
}
