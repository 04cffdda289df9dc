// What `platform doctor` says of the wallet.
import type { PlatformConfig } from '@platform/core/config';
import { currencyFault } from '@platform/core/operator';
import type { Finding } from './finding.ts';
import { readDatabase } from './read-database.ts';

export function walletFindings(config: PlatformConfig): Promise<Finding[]> {
  const check = 'wallet';
  return readDatabase(config, { check, what: 'the currency of the wallet' }, async (database) => {
    const fault = await currencyFault({ database, config });
    const { code, decimals } = config.walletCurrency;
    return fault === null
      ? [{ check, verdict: 'good', found: `amounts are in ${code} with ${decimals} decimals, as they were stored` }]
      : [{ check, verdict: 'bad', found: 'the platform does not start with this currency', cure: fault }];
  });
}
