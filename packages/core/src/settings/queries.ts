// All SQL of what the master account sets in Fleet.
import type { RecordedChange } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';
import type { ProviderDetails, Stored, StoredProvider } from './settings.ts';

type StoredRow =
  | { readonly kind: 'value'; readonly name: string; readonly json: unknown; readonly sealed: null }
  | {
      readonly kind: 'provider';
      readonly name: string;
      readonly json: ProviderDetails;
      readonly sealed: Buffer | null;
    };

/** One statement, so that it is of one moment. */
export async function selectStored(db: Executor): Promise<Stored> {
  const { rows } = await sql<StoredRow>`
    SELECT 'value' AS kind, name, value AS json, NULL::bytea AS sealed, 0 AS position FROM platform_settings
     UNION ALL
    SELECT 'provider', id, details, sealed, position FROM platform_providers
     ORDER BY position, name`.execute(db);
  const providers: StoredProvider[] = [];
  const values: Record<string, unknown> = Object.create(null);
  for (const row of rows)
    if (row.kind === 'value') values[row.name] = row.json;
    else providers.push({ id: row.name, details: row.json, sealed: row.sealed });
  return { values, providers };
}

export async function selectValue(db: Executor, name: string): Promise<unknown> {
  const row = await db.selectFrom('platform_settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/** Of changes at the same time one waits for the other, and then sees what it did. */
export async function lockSettings(db: Executor): Promise<void> {
  await sql`LOCK TABLE platform_changes IN SHARE ROW EXCLUSIVE MODE`.execute(db);
}

/** @param value `null` for none */
export async function storeValue(db: Executor, name: string, value: string | number | null): Promise<void> {
  if (value === null) await db.deleteFrom('platform_settings').where('name', '=', name).execute();
  else
    await sql`
      INSERT INTO platform_settings (name, value) VALUES (${name}, ${JSON.stringify(value)}::jsonb)
      ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`.execute(db);
}

export async function storeProvider(db: Executor, { id, details, sealed }: StoredProvider): Promise<void> {
  await sql`
    INSERT INTO platform_providers (id, details, sealed) VALUES (${id}, ${JSON.stringify(details)}::jsonb, ${sealed})
    ON CONFLICT (id) DO UPDATE SET details = EXCLUDED.details, sealed = EXCLUDED.sealed`.execute(db);
}

export async function deleteProvider(db: Executor, id: string): Promise<void> {
  await db.deleteFrom('platform_providers').where('id', '=', id).execute();
}

export interface ChangeRow {
  readonly number: string;
  readonly changed_at: Date;
  readonly account_name: string;
  readonly change: RecordedChange;
}

/** Puts a change on record, and takes off it what is beyond the newest `most`. */
export async function recordChange(
  db: Executor,
  { changed_at, account_name, change }: Omit<ChangeRow, 'number'>,
  most: number,
): Promise<void> {
  const { number } = await db
    .insertInto('platform_changes')
    .values({ changed_at, account_name, change: JSON.stringify(change) })
    .returning('number')
    .executeTakeFirstOrThrow();
  await sql`DELETE FROM platform_changes WHERE number <= ${number}::bigint - ${most}::bigint`.execute(db);
}

/** The newest first, those before `before` alone. */
export function selectChanges(
  db: Executor,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ChangeRow[]> {
  return db
    .selectFrom('platform_changes')
    .select(['number', 'changed_at', 'account_name', 'change'])
    .$if(before !== null, (query) => query.where('number', '<', before ?? ''))
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
}
