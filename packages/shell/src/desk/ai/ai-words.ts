// What apps used of AI models, in words and in order: by app, and within an app by model.
import type { AccountIntelligenceUsage, AccountProvider, AppIntelligence, ModelUse } from '@platform/contract';
import { count } from '../../design/words.ts';

/** What one app used this month; or, with `null` for its id, all apps that were removed meanwhile. */
export interface AppUse {
  readonly appId: string | null;
  readonly name: string;
  /** The most used first. */
  readonly models: readonly ModelUse[];
}

/** Models that have a colour of their own; the rest share one. */
export const COLOURS = 5;

export interface Part {
  /** As in `labelOf`. */
  readonly label: string;
  readonly tokens: number;
  /** Place of its colour; `COLOURS` for the one of the rest. */
  readonly colour: number;
}

/** `gpt-5-mini`; calls that name no model go by their provider. */
export function labelOf({ model, provider }: Pick<ModelUse, 'model' | 'provider'>): string {
  if (model === '(other)') return 'other models';
  return model === '' ? `${provider}, no model` : model;
}

export function tokensOf({ inputTokens, outputTokens }: Pick<ModelUse, 'inputTokens' | 'outputTokens'>): number {
  return inputTokens + outputTokens;
}

export function sumOf(models: readonly ModelUse[]): number {
  return models.reduce((sum, use) => sum + tokensOf(use), 0);
}

/** The apps that used something, the most first; the removed ones last. */
export function appsOf(usage: AccountIntelligenceUsage, nameOf: (appId: string) => string): AppUse[] {
  const found = [...Map.groupBy(usage.models, ({ appId }) => appId)].map(([appId, models]) => ({
    appId,
    name: appId === null ? 'Removed apps' : nameOf(appId),
    models,
  }));
  return found.sort(
    (one, other) =>
      Number(one.appId === null) - Number(other.appId === null) || sumOf(other.models) - sumOf(one.models),
  );
}

/** The models of all apps that took tokens, the most used first: their places are their colours. */
export function modelsOf(apps: readonly AppUse[]): string[] {
  const sums = new Map<string, number>();
  for (const use of apps.flatMap(({ models }) => models)) {
    const label = labelOf(use);
    sums.set(label, (sums.get(label) ?? 0) + tokensOf(use));
  }
  return [...sums]
    .filter(([, sum]) => sum > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([label]) => label);
}

/** What the bar of an app is made of; models without a colour of their own are one part. */
export function partsOf({ models: uses }: AppUse, models: readonly string[]): Part[] {
  const parts = new Map<number, Part>();
  for (const use of uses.filter((one) => tokensOf(one) > 0)) {
    const colour = Math.min(models.indexOf(labelOf(use)), COLOURS);
    const label = colour === COLOURS ? 'other models' : labelOf(use);
    parts.set(colour, { label, colour, tokens: (parts.get(colour)?.tokens ?? 0) + tokensOf(use) });
  }
  return [...parts.values()].sort((one, other) => one.colour - other.colour);
}

/** `12,300 tokens`. */
export function tokens(amount: number): string {
  return `${amount.toLocaleString('en')} ${amount === 1 ? 'token' : 'tokens'}`;
}

/** `60 calls`. */
export function calls(amount: number): string {
  return `${amount.toLocaleString('en')} ${amount === 1 ? 'call' : 'calls'}`;
}

/** `$1.20`; what rounds to nothing but is something is `< $0.01`. */
export function money(amount: number, currency: string): string {
  const style = new Intl.NumberFormat('en', { style: 'currency', currency });
  const smallest = 10 ** -(style.resolvedOptions().maximumFractionDigits ?? 2);
  return amount > 0 && amount < smallest ? `< ${style.format(smallest)}` : style.format(amount);
}

/** What models cost together, as far as prices are known; `null` where nothing was used. */
export function costInWords(models: readonly ModelUse[], currency: string): string | null {
  const used = models.filter((use) => tokensOf(use) > 0);
  if (used.length === 0) return null;
  const priced = used.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  const unpriced = new Set(
    used.filter(({ cost }) => cost === null).map(({ provider, model }) => `${provider}:${model}`),
  );
  if (priced.length === 0) return 'Cost unknown: the operator set no price.';
  const sum = money(
    priced.reduce((one, other) => one + other, 0),
    currency,
  );
  if (unpriced.size === 0) return `Estimated cost: ${sum}.`;
  return `Estimated cost: at least ${sum}. No price is known for ${count(unpriced.size, 'model')}.`;
}

/** What one app cost, for a table: `$1.20`, `at least $1.20`, `unknown`. */
export function shortCost(models: readonly ModelUse[], currency: string): string {
  const priced = models.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  if (priced.length === 0) return 'unknown';
  const sum = money(
    priced.reduce((one, other) => one + other, 0),
    currency,
  );
  return priced.length === models.length ? sum : `at least ${sum}`;
}

/** What the owner lowered, and the operator's limits. */
export function limitsInWords({ limits, operatorLimits }: Pick<AppIntelligence, 'limits' | 'operatorLimits'>): string {
  const month = `${tokens(limits.monthlyTokens)} a month`;
  const minute = `${calls(limits.requestsPerMinute)} a minute`;
  const lowered = [
    ...(limits.monthlyTokens < operatorLimits.monthlyTokens ? [tokens(operatorLimits.monthlyTokens)] : []),
    ...(limits.requestsPerMinute < operatorLimits.requestsPerMinute ? [calls(operatorLimits.requestsPerMinute)] : []),
  ];
  if (lowered.length === 0) return `The operator’s limits: ${month}, ${minute}.`;
  return `Your limits: ${month}, ${minute}. The operator allows ${lowered.join(' and ')}.`;
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `2026-11` is `November 2026`. */
export function monthInWords(month: string): string {
  return monthName.format(new Date(`${month}-01T00:00:00Z`));
}

/** Whose key calls are made with. */
export function sourceInWords({ source, keySet, platformKey }: AccountProvider): string {
  if (source === 'account') return 'Your key is used';
  if (source === 'platform') return 'The platform’s key is used';
  return keySet || platformKey ? 'The chosen key was removed. Choose another.' : 'Apps can’t use it without a key';
}

/** A whole number as people write it, `1,000,000` or `1 000 000`; `null` for anything else. */
export function wholeNumber(text: string): number | null {
  const digits = text.trim().replace(/(?<=\d)[\s,.’'](?=\d{3}(?!\d))/g, '');
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}
