// Rates that no test reaches: tests of rate limits set their own.
import { defaultRates, type Rates } from '@platform/core/config/rates.ts';

export const unlimitedRates: Rates = Object.fromEntries(
  Object.keys(defaultRates).map((name) => [name, { perMinute: 10_000_000, burst: 10_000_000 }]),
) as Rates;
