// All other SQL of intelligence: keys of accounts, limits and use of installations.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

export interface KeyRow {
  readonly provider: string;
  readonly keySet: boolean;
  readonly source: 'account' | 'platform' | null;
}

export async function selectKeys(db: Executor, accountKey: string): Promise<KeyRow[]> {
  return db
    .selectFrom('intelligence_keys')
    .select((expression) => [
      'provider',
      'source',
      expression('sealed', 'is not', null).$castTo<boolean>().as('keySet'),
    ])
    .where('account_key', '=', accountKey)
    .execute();
}

/** The key becomes what calls are made with. */
export async function upsertKey(db: Executor, accountKey: string, provider: string, sealed: Buffer): Promise<void> {
  await sql`
    INSERT INTO intelligence_keys (account_key, provider, sealed) VALUES (${accountKey}, ${provider}, ${sealed})
    ON CONFLICT (account_key, provider) DO UPDATE SET sealed = EXCLUDED.sealed`.execute(db);
}

export async function deleteKey(db: Executor, accountKey: string, provider: string): Promise<void> {
  await db
    .deleteFrom('intelligence_keys')
    .where('account_key', '=', accountKey)
    .where('provider', '=', provider)
    .execute();
}

/** Of all accounts. */
export async function deleteKeysOf(db: Executor, provider: string): Promise<void> {
  await db.deleteFrom('intelligence_keys').where('provider', '=', provider).execute();
}

export async function upsertSource(
  db: Executor,
  accountKey: string,
  provider: string,
  source: 'account' | 'platform',
): Promise<void> {
  await sql`
    INSERT INTO intelligence_keys (account_key, provider, source) VALUES (${accountKey}, ${provider}, ${source})
    ON CONFLICT (account_key, provider) DO UPDATE SET source = EXCLUDED.source`.execute(db);
}

export interface MeterRow {
  readonly requestsPerMinute: number | null;
  readonly monthlyTokens: string | null;
  readonly used: string;
  readonly reserved: string;
  readonly requests: string;
}

/** Limits of an installation, and its counters of a month; `undefined` before its first call. */
export async function selectMeter(
  db: Executor,
  installationId: InstallationId,
  month: string,
): Promise<MeterRow | undefined> {
  const { rows } = await sql<MeterRow>`
    SELECT requests_per_minute AS "requestsPerMinute", monthly_tokens::text AS "monthlyTokens",
           CASE WHEN month = ${month}::date THEN used ELSE 0 END::text AS used,
           CASE WHEN month = ${month}::date THEN reserved ELSE 0 END::text AS reserved,
           CASE WHEN month = ${month}::date THEN requests ELSE 0 END::text AS requests
      FROM intelligence_meters WHERE installation_id = ${installationId}`.execute(db);
  return rows[0];
}

export interface UsageRow {
  readonly provider: string;
  readonly model: string;
  readonly requests: string;
  readonly inputTokens: string;
  readonly outputTokens: string;
}

/** What an installation used in a month, the most used models first. */
export async function selectUsage(db: Executor, installationId: InstallationId, month: string): Promise<UsageRow[]> {
  const { rows } = await sql<UsageRow>`
    SELECT provider, model, requests::text, input_tokens::text AS "inputTokens", output_tokens::text AS "outputTokens"
      FROM intelligence_usage
     WHERE installation_id = ${installationId} AND month = ${month}::date
     ORDER BY input_tokens + output_tokens DESC, provider, model`.execute(db);
  return rows;
}

/**
 * What all apps of an account used in a month, the most used models first. Removed apps are one, without an id; models
 * beyond `most` are added up by app.
 */
export async function selectAccountUsage(
  db: Executor,
  { accountKey, month, most }: { readonly accountKey: string; readonly month: string; readonly most: number },
): Promise<(UsageRow & { readonly appId: string | null })[]> {
  const { rows } = await sql<UsageRow & { readonly appId: string | null }>`
    SELECT "appId", provider, model, sum(requests)::text AS requests, sum(input_tokens)::text AS "inputTokens",
           sum(output_tokens)::text AS "outputTokens"
      FROM (SELECT CASE WHEN i.removed_at IS NULL THEN i.app_id END AS "appId", u.provider,
                   CASE WHEN row_number() OVER (ORDER BY u.input_tokens + u.output_tokens DESC, u.model) <= ${most}
                        THEN u.model ELSE '(other)' END AS model,
                   u.requests, u.input_tokens, u.output_tokens
              FROM kept_installations i JOIN intelligence_usage u ON u.installation_id = i.id
             WHERE i.account_key = ${accountKey} AND u.month = ${month}::date) AS each
     GROUP BY "appId", provider, model
     ORDER BY sum(input_tokens + output_tokens) DESC, "appId", provider, model`.execute(db);
  return rows;
}

/** `undefined` leaves a limit as it is, `null` makes it the operator's. */
export async function updateLimits(
  db: Executor,
  installationId: InstallationId,
  limits: {
    readonly requestsPerMinute: number | null | undefined;
    readonly monthlyTokens: number | null | undefined;
    readonly now: Date;
    readonly month: string;
  },
): Promise<void> {
  const { requestsPerMinute = null, monthlyTokens = null, now, month } = limits;
  await sql`
    INSERT INTO intelligence_meters AS m
           (installation_id, requests_per_minute, monthly_tokens, bucket, bucket_at, month)
    VALUES (${installationId}, ${requestsPerMinute}, ${monthlyTokens}, 1e9, ${now}, ${month}::date)
    ON CONFLICT (installation_id) DO UPDATE
       SET requests_per_minute = CASE WHEN ${limits.requestsPerMinute === undefined} THEN m.requests_per_minute
                                      ELSE EXCLUDED.requests_per_minute END,
           monthly_tokens = CASE WHEN ${limits.monthlyTokens === undefined} THEN m.monthly_tokens
                                 ELSE EXCLUDED.monthly_tokens END`.execute(db);
}

export interface SealedKeyRow {
  readonly accountKey: string;
  readonly provider: string;
  readonly sealed: Buffer;
}

/** Keys of all accounts, from after this one. */
export async function selectSealedKeys(
  db: Executor,
  page: { readonly after: Omit<SealedKeyRow, 'sealed'>; readonly limit: number },
): Promise<SealedKeyRow[]> {
  const { rows } = await sql<SealedKeyRow>`
    SELECT account_key AS "accountKey", provider, sealed FROM intelligence_keys
     WHERE sealed IS NOT NULL AND (account_key, provider) > (${page.after.accountKey}, ${page.after.provider})
     ORDER BY account_key, provider LIMIT ${page.limit}`.execute(db);
  return rows;
}
