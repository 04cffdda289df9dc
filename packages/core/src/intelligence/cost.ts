// What tokens cost at the prices of the operator's file, which are for a million.
import type { ProviderModel } from '@platform/contract';

const MILLION = 1_000_000;

/** In the currency of the file; `null` where it has no price for tokens that were used. */
export function costOf(
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  prices: Pick<ProviderModel, 'inputPrice' | 'outputPrice'> | undefined,
): number | null {
  if (prices === undefined) return null;
  const input = priced(inputTokens, prices.inputPrice);
  const output = priced(outputTokens, prices.outputPrice);
  return input === null || output === null ? null : input + output;
}

function priced(tokens: number, price: number | undefined): number | null {
  if (tokens === 0) return 0;
  return price === undefined ? null : (tokens * price) / MILLION;
}
