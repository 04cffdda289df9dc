// Rates that no test reaches: tests of rate limits set their own.

import type { Rates } from '@platform/core';
import { defaultRates } from '@platform/core/config';

export const unlimitedRates: Rates = Object.fromEntries(
  Object.keys(defaultRates).map((name) => [name, { perMinute: 10_000_000, burst: 10_000_000 }]),
) as Rates;
