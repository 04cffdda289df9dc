// Looks at the whole database, for tests that say what is in it and what never is.
import type pg from 'pg';

async function tables(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  return rows.map(({ tablename }) => tablename);
}

/** Rows of every table. */
export async function countRows(pool: pg.Pool): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tables(pool)) {
    const { rows } = await pool.query<{ count: number }>(`SELECT count(*)::int FROM ${quoted(table)}`);
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts;
}

/** Every row of every table as text; bytes as hexadecimal. */
export async function databaseText(pool: pg.Pool): Promise<string> {
  const parts: string[] = [];
  for (const table of await tables(pool)) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_json(t)::text AS row FROM ${quoted(table)} t`);
    parts.push(...rows.map(({ row }) => row));
  }
  return parts.join('\n');
}

/** The tables in which any of these words stands. */
export async function tablesWith(pool: pg.Pool, words: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const name of await tables(pool)) {
    const held = await pool.query<{ row: string }>(`SELECT to_json(t)::text AS row FROM ${quoted(name)} t`);
    const text = held.rows.map(({ row }) => row).join('\n');
    if (words.some((word) => text.includes(word))) found.add(name);
  }
  return found;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
