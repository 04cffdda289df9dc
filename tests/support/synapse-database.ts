// The database of a Synapse, which a test looks into.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { withConnection } from '@platform/core/database';
import { testCluster } from './postgres.ts';

export interface SynapseDatabase {
  /** `database` of its configuration. */
  readonly settings: object;
  /** @param sql with `?` for each value */
  rows(sql: string, ...values: string[]): Promise<Record<string, unknown>[]>;
  /** Whether a text stands anywhere in it, as it is on the disk. */
  holds(text: string): Promise<boolean>;
  close(): Promise<void>;
}

export function openSqliteDatabase(file: string): SynapseDatabase {
  return {
    settings: { name: 'sqlite3', args: { database: file } },
    async rows(sql, ...values) {
      const database = new DatabaseSync(file, { readOnly: true });
      try {
        return database.prepare(sql).all(...values);
      } finally {
        database.close();
      }
    },
    async holds(text) {
      const parts = await Promise.all([readFile(file), readFile(`${file}-wal`).catch(() => Buffer.alloc(0))]);
      return parts.some((bytes) => bytes.includes(text));
    },
    close: async () => undefined,
  };
}

/** In the cluster of the tests, with the collation that Synapse asks for. */
export async function openPostgresDatabase(): Promise<SynapseDatabase> {
  const cluster = await testCluster();
  const name = `synapse_${randomBytes(8).toString('hex')}`;
  const asAdmin = (sql: string) => withConnection({ connectionString: cluster }, (client) => client.query(sql));
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`);
  const url = new URL(cluster);
  url.pathname = `/${name}`;
  const query = (sql: string, values: readonly string[] = []) =>
    withConnection({ connectionString: url.href }, (client) => client.query(sql, [...values]));
  return {
    settings: {
      name: 'psycopg2',
      args: {
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        // A folder with a socket, or a machine.
        host: url.searchParams.get('host') ?? url.hostname,
        port: url.port === '' ? 5432 : Number(url.port),
        dbname: name,
        cp_min: 1,
        cp_max: 5,
      },
    },
    async rows(sql, ...values) {
      let count = 0;
      const numbered = sql.replaceAll('?', () => {
        count += 1;
        return `$${count}`;
      });
      return (await query(numbered, values)).rows as Record<string, unknown>[];
    },
    async holds(text) {
      const { rows: tables } = await query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
      for (const { tablename } of tables as { tablename: string }[]) {
        const words = [text, Buffer.from(text).toString('hex')];
        const where = 'strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0';
        const found = await query(`SELECT 1 FROM "${tablename}" AS t WHERE ${where} LIMIT 1`, words);
        if (found.rows.length > 0) return true;
      }
      return false;
    },
    close: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined),
  };
}
