// What apps used of AI models, in words and in order: by app, and within an app by model.
import type { AccountProvider, AppIntelligence } from '@platform/contract';

export interface AppUse {
  readonly appId: string;
  readonly name: string;
  readonly intelligence: AppIntelligence;
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

type ModelUse = AppIntelligence['usage']['models'][number];

/** `gpt-5-mini`; calls that name no model go by their provider. */
export function labelOf({ model, provider }: Pick<ModelUse, 'model' | 'provider'>): string {
  return model === '' ? `${provider}, no model` : model;
}

export function tokensOf({ inputTokens, outputTokens }: ModelUse): number {
  return inputTokens + outputTokens;
}

/** The models of all apps that took tokens, the most used first: their places are their colours. */
export function modelsOf(apps: readonly AppUse[]): string[] {
  const sums = new Map<string, number>();
  for (const use of apps.flatMap((app) => app.intelligence.usage.models)) {
    const label = labelOf(use);
    sums.set(label, (sums.get(label) ?? 0) + tokensOf(use));
  }
  return [...sums]
    .filter(([, sum]) => sum > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([label]) => label);
}

/** What the bar of an app is made of; models without a colour of their own are one part. */
export function partsOf({ intelligence }: AppUse, models: readonly string[]): Part[] {
  const parts = new Map<number, Part>();
  for (const use of intelligence.usage.models) {
    const colour = Math.min(models.indexOf(labelOf(use)), COLOURS);
    const label = colour === COLOURS ? 'other models' : labelOf(use);
    parts.set(colour, { label, colour, tokens: (parts.get(colour)?.tokens ?? 0) + tokensOf(use) });
  }
  return [...parts.values()].filter(({ tokens }) => tokens > 0).sort((one, other) => one.colour - other.colour);
}

/** `12,300 tokens`. */
export function tokens(amount: number): string {
  return `${amount.toLocaleString('en')} ${amount === 1 ? 'token' : 'tokens'}`;
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
  return keySet || platformKey ? 'The chosen key is gone: choose again' : 'Apps can’t use it without a key';
}

/** A whole number as people write it, `1,000,000` or `1 000 000`; `null` for anything else. */
export function wholeNumber(text: string): number | null {
  const digits = text.trim().replace(/(?<=\d)[\s,.’'](?=\d{3}(?!\d))/g, '');
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}
