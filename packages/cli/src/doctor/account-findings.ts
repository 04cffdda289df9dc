// What `platform doctor` says of the accounts.
import type { PlatformConfig } from '@platform/core/config';
import { accountNotices } from '@platform/core/operator';
import type { Finding } from './finding.ts';
import { readDatabase } from './read-database.ts';

export async function accountFindings(config: PlatformConfig): Promise<Finding[]> {
  const { masterAccount, registration, publishers } = config;
  if (masterAccount === null && (registration ?? 'open') === 'open' && typeof publishers === 'string') return [];
  const check = 'accounts';
  return readDatabase(config, { check, what: 'the accounts' }, async (database) =>
    (await accountNotices({ database, config })).map((found) => ({ check, verdict: 'warning', found })),
  );
}
