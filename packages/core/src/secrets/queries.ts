// All SQL of secrets.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export interface SecretRow {
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The secrets of an account by name, without their values. */
export async function selectSecrets(db: Executor, accountKey: string): Promise<SecretRow[]> {
  return await db
    .selectFrom('account_secrets')
    .select(['name', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .where('account_key', '=', accountKey)
    .orderBy('name')
    .execute();
}

export interface SecretUse {
  readonly secret: string;
  readonly appId: string;
  readonly slot: string;
}

/** What the secrets of an account are bound to, by app and slot. */
export async function selectUses(db: Executor, accountKey: string): Promise<SecretUse[]> {
  return await db
    .selectFrom('bound_secrets')
    .innerJoin('kept_installations', 'kept_installations.id', 'bound_secrets.installation_id')
    .select(['secret_name as secret', 'kept_installations.app_id as appId', 'slot'])
    .where('bound_secrets.account_key', '=', accountKey)
    .orderBy('kept_installations.app_id')
    .orderBy('slot')
    .execute();
}

/** The nodes of the installations that use a secret; `null` for one that is on none. Nothing is bound to it meanwhile. */
export async function selectNodesOfUses(trx: Executor, accountKey: string, name: string): Promise<(string | null)[]> {
  await trx
    .selectFrom('account_secrets')
    .select('name')
    .where('account_key', '=', accountKey)
    .where('name', '=', name)
    .forUpdate()
    .execute();
  const rows = await trx
    .selectFrom('bound_secrets')
    .innerJoin('kept_installations', 'kept_installations.id', 'bound_secrets.installation_id')
    .select('kept_installations.node_id as nodeId')
    .where('bound_secrets.account_key', '=', accountKey)
    .where('secret_name', '=', name)
    .execute();
  return rows.map(({ nodeId }) => nodeId);
}

/** Serialises what changes the secrets of one account until the transaction ends. */
export async function lockSecrets(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(4232, hashtext(${accountKey}))`.execute(trx);
}

/** How many secrets the account has besides the one of this name. */
export async function countOtherSecrets(db: Executor, accountKey: string, name: string): Promise<number> {
  const { count } = await db
    .selectFrom('account_secrets')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_key', '=', accountKey)
    .where('name', '<>', name)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Another value under the same name keeps the bindings, and the time of the first. */
export async function upsertSecret(
  db: Kysely<DatabaseSchema>,
  {
    accountKey,
    sessionId,
    name,
    sealed,
    now,
  }: {
    readonly accountKey: string;
    readonly sessionId: string;
    readonly name: string;
    readonly sealed: Buffer;
    readonly now: Date;
  },
): Promise<void> {
  await sql`
    INSERT INTO account_secrets (account_key, name, sealed, created_at, stored_at, stored_in)
    VALUES (${accountKey}, ${name}, ${sealed}, ${now}, ${now}, ${sessionId})
    ON CONFLICT (account_key, name) DO UPDATE
       SET sealed = EXCLUDED.sealed, stored_at = EXCLUDED.stored_at, stored_in = EXCLUDED.stored_in`.execute(db);
}

/** Its bindings go with it. @returns false when there is none */
export async function deleteSecret(db: Executor, accountKey: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('account_secrets')
    .where('account_key', '=', accountKey)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface HeldSecret {
  /** When its value was stored; `null` for one from before this was kept. */
  readonly storedAt: Date | null;
  /** The session that stored it. */
  readonly storedIn: string | null;
}

/** Keeps a secret with its value until the transaction ends; `undefined` when there is none. */
export function holdSecret(trx: Executor, accountKey: string, name: string): Promise<HeldSecret | undefined> {
  return trx
    .selectFrom('account_secrets')
    .select(['stored_at as storedAt', 'stored_in as storedIn'])
    .where('account_key', '=', accountKey)
    .where('name', '=', name)
    .forShare()
    .executeTakeFirst();
}

/** Stores when a secret was last used, for its owner. */
export async function markUsed(db: Executor, accountKey: string, name: string, now: Date): Promise<void> {
  await db
    .updateTable('account_secrets')
    .set({ last_used_at: now })
    .where('account_key', '=', accountKey)
    .where('name', '=', name)
    .execute();
}

export interface SealedSecretRow {
  readonly accountKey: string;
  readonly name: string;
  readonly sealed: Buffer;
}

/** Secrets of all accounts, from after this one. */
export async function selectSealed(
  db: Executor,
  page: { readonly after: Omit<SealedSecretRow, 'sealed'>; readonly limit: number },
): Promise<SealedSecretRow[]> {
  const { rows } = await sql<SealedSecretRow>`
    SELECT account_key AS "accountKey", name, sealed FROM account_secrets
     WHERE (account_key, name) > (${page.after.accountKey}, ${page.after.name})
     ORDER BY account_key, name LIMIT ${page.limit}`.execute(db);
  return rows;
}
