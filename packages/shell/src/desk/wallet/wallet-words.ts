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

/** Which app it is: the passkey signs its id, and several apps can have one name. @param nameOf an app that is not installed by its id */
export function appInWords(appId: string, nameOf: (appId: string) => string): string {
  const name = nameOf(appId);
  return name === appId ? appId : `${name} (${appId})`;
}

/** Which apps a limit names. */
export function appsInWords(appIds: readonly string[] | null, nameOf: (appId: string) => string): string {
  return appIds === null ? 'Every app' : listed(appIds.map((appId) => appInWords(appId, nameOf)));
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** What the apps of a proposed limit may propose before it is added, and then. */
export interface Difference {
  readonly before: readonly string[];
  /** Whether what the limit admits comes to what others admit already, is all that is admitted, or both, by app. */
  readonly kind: 'also' | 'only' | 'mixed';
  readonly after: readonly string[];
}

interface Reading {
  readonly nameOf: (appId: string) => string;
  readonly inFull: (timestamp: string) => string;
  readonly now: Date;
}

export function difference(
  operation: PolicyOperation,
  { present, balance }: Pick<WalletReview, 'present' | 'balance'>,
  { nameOf, inFull, now }: Reading,
): Difference {
  const { limits, recipientCount, appIds } = operation;
  const one = (given: Limits, count: number) => {
    // Decimals of a currency that the platform no longer uses are unknown: minor units then.
    const decimals = given.currency === balance.currency ? balance.decimals : 0;
    return `${limitsInWords(given, decimals)}, to ${peopleInWords(count)}`;
  };
  const isOver = ({ expiresAt }: Policy) => expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
  const before = present.map((policy) => {
    const whose = `“${policy.name}”, ${policy.appIds === null ? 'every app' : appsInWords(policy.appIds, nameOf)}`;
    if (isOver(policy)) return `${whose}: nothing; it ended on ${inFull(policy.expiresAt ?? '')}`;
    const until = policy.expiresAt === null ? '' : `, until ${inFull(policy.expiresAt)}`;
    return `${whose}: ${one(policy, policy.recipientCount)}${until}`;
  });
  const names = (policy: Policy, appId: string) => policy.appIds === null || policy.appIds.includes(appId);
  const free = (appIds ?? []).filter((appId) => !present.some((policy) => names(policy, appId)));
  // Of a limit for every app: those that no limit names until now.
  const freesOthers = appIds === null && present.every(({ appIds: named }) => named !== null);
  const valid = present.filter((policy) => !isOver(policy));
  const isLimited = (appId: string) => valid.some((policy) => names(policy, appId));
  const limited = appIds === null ? valid.length > 0 : appIds.some(isLimited);
  const unlimited = appIds === null ? !valid.some(({ appIds: named }) => named === null) : !appIds.every(isLimited);
  if (present.length === 0) before.push('Any amount, to anyone');
  else if (freesOthers) before.push('Every other app: any amount, to anyone');
  else if (free.length > 0)
    before.push(`${listed(free.map((appId) => appInWords(appId, nameOf)))}: any amount, to anyone`);
  const terms = one(limits, recipientCount);
  const after = [`${terms.charAt(0).toUpperCase()}${terms.slice(1)}`];
  const kind = limited ? (unlimited ? 'mixed' : 'also') : 'only';
  if (kind === 'mixed') {
    const others = appIds === null ? [] : appIds.filter((appId) => !isLimited(appId));
    const whose = others.length === 0 ? 'Every other app' : listed(others.map((appId) => appInWords(appId, nameOf)));
    after.push(`${whose}: only this. The rest: this, and what the policies above admit`);
  }
  return { before, kind, after };
}
