// A bare connection to a database of core of its own, for tests of what PostgreSQL does with our statements.
import type { TestContext } from 'node:test';
import { migrate } from '@platform/core/database';
import pg from 'pg';
import { testDatabase } from './postgres.ts';

/** Ends with the test, and the database with it. */
export async function coreClient(t: TestContext): Promise<pg.Client> {
  const database = await testDatabase({ key: 'core', migrate: async (url) => void (await migrate(url)) });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await database.drop();
  });
  return client;
}
