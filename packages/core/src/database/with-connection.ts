// One connection to PostgreSQL apart from any pool, for what happens once: migrating, proving a login, asking a version.
import type pg from 'pg';
import { findServer, ServerClient } from './servers.ts';

/**
 * Opens a connection, and ends it after `use`. When it breaks while no statement runs, the next statement fails;
 * without a listener that would end the process.
 *
 * @throws what connecting or `use` throws
 */
export async function withConnection<T>(options: pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const { connectionString } = options;
  // What happens once comes before anybody watches, and must not end at a server that takes no writes.
  if (connectionString !== undefined) await findServer(connectionString);
  const client = new ServerClient(options);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
