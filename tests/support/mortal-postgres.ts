// A PostgreSQL of one test file, with what core needs in it, on a disk and with fsync as in production: one that may be
// killed.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { migrate, withConnection } from '@platform/core/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@platform/core/embedded-postgres';
import type pg from 'pg';
import { descendants } from '../../packages/runtime/test-support/processes.ts';
import type { TestDatabase } from './postgres.ts';
import { until } from './wait.ts';

export interface MortalPostgres extends TestDatabase {
  /** `kill -9` of the server and its backends. Resolves when they have ended. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Starts it again, where it was. */
  start(): Promise<void>;
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

export async function startMortalPostgres(): Promise<MortalPostgres> {
  const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'mortal-'));
  if (process.getuid?.() === 0) fs.chmodSync(dataDir, 0o711);
  const settings = { fsync: 'on', synchronous_commit: 'on', max_connections: '200' };
  const run = () => startEmbeddedPostgres({ dataDir, log: () => undefined, settings });
  let server: EmbeddedPostgres = await run();
  const { url } = server;
  await migrate(url);
  return {
    url,
    async kill() {
      const backends = descendants(server.pid);
      process.kill(server.pid, 'SIGKILL');
      // They end by themselves, but may commit before.
      for (const { pid, alive } of backends) if (alive()) process.kill(pid, 'SIGKILL');
      await server.exited;
      await until('all backends to end', () => !backends.some(({ alive }) => alive()));
    },
    stop: () => server.stop(),
    async start() {
      server = await run();
    },
    async query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      return withConnection(
        { connectionString: url },
        async (client) => (await client.query<Row>(sql, [...values])).rows,
      );
    },
    async drop() {
      await server.stop();
      fs.rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
