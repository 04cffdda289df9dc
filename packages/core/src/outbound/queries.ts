// All SQL of secret bindings. The one of each outbound call is a prepared statement on the bare pool.
import type { Injection, InstallationId, Manifest, Opened } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { SlotDeclaration } from '../catalog/face.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';
import { countOpened } from '../opened.ts';

export interface BindingRow {
  readonly slot: string;
  readonly secret: string;
  readonly declarationHash: string;
  readonly declaration: Omit<SlotDeclaration, 'name'>;
  readonly inject: Injection;
}

/** The bindings of an installation, in no particular order. */
export async function selectBindings(db: Executor, id: InstallationId): Promise<BindingRow[]> {
  const rows = await db.selectFrom('secret_bindings').selectAll().where('installation_id', '=', id).execute();
  return rows.map((row) => ({
    slot: row.slot,
    secret: row.secret_name,
    declarationHash: row.declaration_hash,
    declaration: row.declaration,
    inject: { in: row.inject_in, name: row.inject_name, scheme: row.inject_scheme },
  }));
}

/** Whether any binding of an installed app was reviewed that sends the secret to the origin. */
export async function isBoundTo(db: Executor, accountKey: string, secret: string, origin: string): Promise<boolean> {
  const row = await db
    .selectFrom('secret_bindings')
    .select('slot')
    .where('account_key', '=', accountKey)
    .where('secret_name', '=', secret)
    .where(sql<string>`declaration ->> 'origin'`, '=', origin)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function upsertBinding(
  trx: Kysely<DatabaseSchema>,
  {
    id,
    accountKey,
    binding,
  }: { readonly id: InstallationId; readonly accountKey: string; readonly binding: BindingRow },
): Promise<void> {
  const { slot, secret, declarationHash, declaration, inject } = binding;
  const value = {
    account_key: accountKey,
    secret_name: secret,
    declaration_hash: declarationHash,
    declaration: JSON.stringify(declaration),
    inject_in: inject.in,
    inject_name: inject.name,
    inject_scheme: inject.scheme,
  };
  await trx
    .insertInto('secret_bindings')
    .values({ installation_id: id, slot, ...value })
    .onConflict((conflict) => conflict.columns(['installation_id', 'slot']).doUpdateSet(value))
    .execute();
}

/** @returns false when the slot was not bound */
export async function deleteBinding(db: Executor, id: InstallationId, slot: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('secret_bindings')
    .where('installation_id', '=', id)
    .where('slot', '=', slot)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteBindings(db: Executor, id: InstallationId): Promise<void> {
  await db.deleteFrom('secret_bindings').where('installation_id', '=', id).execute();
}

export interface CallRow {
  readonly slots: NonNullable<Manifest['secretSlots']> | null;
  /** `null` while the slot is bound to nothing. */
  readonly secret: string | null;
  readonly declaration_hash: string;
  readonly inject_in: 'header' | 'query';
  readonly inject_name: string;
  readonly inject_scheme: string;
  readonly sealed: Buffer;
  readonly last_used_at: Date | null;
}

const FIND_CALL = {
  name: 'find-outbound-call',
  text: `
    SELECT v.manifest -> 'secretSlots' AS slots, b.secret_name AS secret, b.declaration_hash, b.inject_in,
           b.inject_name, b.inject_scheme, s.sealed, s.last_used_at
      FROM installed_apps i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN (secret_bindings b
                 JOIN sealed_secrets s ON s.account_key = b.account_key AND s.name = b.secret_name)
             ON b.installation_id = i.id AND b.slot = $2 AND b.account_key = i.account_key
     WHERE i.id = $1`,
};

/** What decides about a call of a slot; `undefined` when the app was removed. */
export async function findCall(pool: pg.Pool, id: InstallationId, slot: string): Promise<CallRow | undefined> {
  const { rows } = await pool.query<CallRow>({ ...FIND_CALL, values: [id, slot] });
  return rows[0];
}

export function countBindings(db: Executor, installationId: string): Promise<Opened> {
  return countOpened(db, 'secrets', sql`SELECT FROM secret_bindings WHERE installation_id = ${installationId}`);
}
