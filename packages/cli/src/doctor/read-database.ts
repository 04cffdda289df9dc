// Findings of what is in the database.
import type { PlatformConfig } from '@platform/core/config';
import { openDatabase, requireMigrated } from '@platform/core/database';
import { reasonOf } from '@platform/core/start';
import { withDatabase } from '../local/instance.ts';
import { type Finding, isPassing } from './finding.ts';
import { isBeforeFirstStart } from './first-start-findings.ts';

type Database = ReturnType<typeof openDatabase>['database'];

/**
 * @param what what could not be read, in the words of a finding
 * @returns nothing where the database does not answer or was never started, which another finding says
 */
export async function readDatabase(
  config: PlatformConfig,
  { check, what }: { readonly check: string; readonly what: string },
  read: (database: Database) => Promise<Finding[]>,
): Promise<Finding[]> {
  if (isBeforeFirstStart(config)) return [];
  let isReached = false;
  const findings = withDatabase(config, async (url) => {
    isReached = true;
    await requireMigrated(url);
    const { database, close } = openDatabase({ url, connections: 1, onError: () => undefined });
    try {
      return await read(database);
    } finally {
      await close();
    }
  });
  try {
    return await findings;
  } catch (error) {
    if (!isReached || isPassing(error)) return [];
    return [{ check, verdict: 'bad', found: `${what} could not be read (${reasonOf(error)})` }];
  }
}
