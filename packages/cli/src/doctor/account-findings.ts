// What `platform doctor` says of the accounts.
import type { PlatformConfig } from '@platform/core/config';
import { openDatabase, requireMigrated } from '@platform/core/database';
import { accountNotices } from '@platform/core/operator';
import { reasonOf } from '@platform/core/start';
import { withDatabase } from '../local/instance.ts';
import { type Finding, isPassing } from './finding.ts';
import { isBeforeFirstStart } from './first-start-findings.ts';

/** @returns nothing where the database does not answer or was never started, which another finding says */
export async function accountFindings(config: PlatformConfig): Promise<Finding[]> {
  const { masterAccount, registration, publishers } = config;
  if (masterAccount === null && (registration ?? 'open') === 'open' && typeof publishers === 'string') return [];
  if (isBeforeFirstStart(config)) return [];
  let isReached = false;
  const notices = withDatabase(config, async (url) => {
    isReached = true;
    await requireMigrated(url);
    const { database, close } = openDatabase({ url, connections: 1, onError: () => undefined });
    try {
      return await accountNotices({ database, config });
    } finally {
      await close();
    }
  });
  try {
    return (await notices).map((found) => ({ check: 'accounts', verdict: 'warning', found }));
  } catch (error) {
    if (!isReached || isPassing(error)) return [];
    return [{ check: 'accounts', verdict: 'bad', found: `the accounts could not be read (${reasonOf(error)})` }];
  }
}
