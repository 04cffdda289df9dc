// Opens the pool and the query builder on one PostgreSQL, after the migrations ran.
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { FairPool } from './fair-pool.ts';
import { PatientDatabase } from './patient-dialect.ts';
import type { DatabaseSchema } from './schema.ts';
import { ServerClient } from './servers.ts';

export interface OpenDatabase {
  readonly pool: FairPool;
  readonly database: Kysely<DatabaseSchema>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of this replica at most. Default 10. */
  readonly connections?: number;
  /** Called when an idle connection breaks; the pool replaces it. */
  readonly onError: (error: unknown) => void;
}

export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const pool = openPool(options);
  const database = new PatientDatabase({ pool });
  return { pool, database, close: () => database.destroy() };
}

/** @param setting a statement that each connection begins with */
export function openPool({ url, connections = 10, onError }: DatabaseOptions, setting?: string): FairPool {
  const pool = new FairPool({
    // Made by the pool with what stands here.
    Client: ServerClient as unknown as new () => pg.ClientBase,
    connectionString: url,
    max: connections,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'platform-core',
    // A statement that hangs must not hold a connection for ever; long work is done in batches.
    statement_timeout: 30_000,
    ...(setting !== undefined && { onConnect: (client) => client.query(setting) }),
  });
  pool.on('error', (error) => {
    // The pool puts the whole connection into the error, with what would cancel its queries.
    Reflect.deleteProperty(error, 'client');
    onError(error);
  });
  // The pool listens to idle connections only. One that breaks within a transaction, between two statements, would end
  // the process; so the next statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
