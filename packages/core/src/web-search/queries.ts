// All SQL of web searches by agents.
import type { InstallationId, WebSearchAnswer, WebSearchId } from '@platform/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

/** An installed app whose version is an agent that declares web search. */
export interface Agent {
  readonly installationId: InstallationId;
  readonly appId: string;
}

/** Whether a version is one, from what its manifest says. */
const declares = sql<boolean>`v.manifest @> '{"workload": {"runtime": "agent", "agent": {"webSearch": true}}}'`;

function agents(db: Executor) {
  return db
    .selectFrom('installed_apps as i')
    .innerJoin('published_versions as v', (join) =>
      join.onRef('v.app_id', '=', 'i.app_id').onRef('v.version', '=', 'i.version'),
    )
    .select(['i.id as installationId', 'i.app_id as appId'])
    .where(declares);
}

export function selectAgent(db: Executor, accountKey: string, appId: string): Promise<Agent | undefined> {
  return agents(db).where('i.account_key', '=', accountKey).where('i.app_id', '=', appId).executeTakeFirst();
}

export async function isAgent(db: Executor, installationId: InstallationId): Promise<boolean> {
  return (await agents(db).where('i.id', '=', installationId).executeTakeFirst()) !== undefined;
}

/** Of the account, those that ask their person something. */
export async function selectAsking(db: Executor, accountKey: string, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('web_search_requests as r')
    .innerJoin('installed_apps as i', 'i.id', 'r.installation_id')
    .select('i.app_id')
    .distinct()
    .where('i.account_key', '=', accountKey)
    .where('r.answer', 'is', null)
    .where('r.expires_at', '>', now)
    .execute();
  return rows.map(({ app_id }) => app_id);
}

/** Serialises what is asked and answered about one agent. */
export async function lockAgent(trx: Executor, installationId: InstallationId): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${installationId}, 4234))`.execute(trx);
}

export type Consent = Pick<Selectable<DatabaseSchema['web_search_consents']>, 'consent' | 'version'> & {
  readonly changed_at: Date | null;
};

const NONE: Consent = { consent: false, version: 0, changed_at: null };

export async function selectConsent(db: Executor, installationId: InstallationId): Promise<Consent> {
  const row = await db
    .selectFrom('web_search_consents')
    .select(['consent', 'version', 'changed_at'])
    .where('installation_id', '=', installationId)
    .executeTakeFirst();
  return row ?? NONE;
}

/** Sets the standing consent, in the next version; what was allowed for sessions holds no more. */
export async function changeConsent(
  trx: Executor,
  installationId: InstallationId,
  { consent, now }: { readonly consent: boolean; readonly now: Date },
): Promise<void> {
  await trx
    .insertInto('web_search_consents')
    .values({ installation_id: installationId, consent, version: 1, changed_at: now })
    .onConflict((conflict) =>
      conflict
        .column('installation_id')
        .doUpdateSet({ consent, version: sql`web_search_consents.version + 1`, changed_at: now }),
    )
    .execute();
  await deleteSessionsOf(trx, installationId);
}

export async function deleteSessionsOf(db: Executor, installationId: InstallationId): Promise<void> {
  await db.deleteFrom('web_search_sessions').where('installation_id', '=', installationId).execute();
}

export async function isSessionAllowed(
  db: Executor,
  {
    installationId,
    session,
    version,
    since,
  }: {
    readonly installationId: InstallationId;
    readonly session: string;
    readonly version: number;
    readonly since: Date;
  },
): Promise<boolean> {
  const row = await db
    .selectFrom('web_search_sessions')
    .select('session')
    .where('installation_id', '=', installationId)
    .where('session', '=', session)
    .where('version', '=', version)
    .where('granted_at', '>', since)
    .executeTakeFirst();
  return row !== undefined;
}

/** @param kept how many sessions of the agent stay allowed, the newest ones */
export async function allowSession(
  trx: Executor,
  row: Insertable<DatabaseSchema['web_search_sessions']>,
  kept: number,
): Promise<void> {
  await trx
    .insertInto('web_search_sessions')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['installation_id', 'session'])
        .doUpdateSet({ version: row.version, granted_at: row.granted_at }),
    )
    .execute();
  await trx
    .deleteFrom('web_search_sessions')
    .where('installation_id', '=', row.installation_id)
    .where('session', 'in', (query) =>
      query
        .selectFrom('web_search_sessions')
        .select('session')
        .where('installation_id', '=', row.installation_id)
        .orderBy('granted_at', 'desc')
        .offset(kept),
    )
    .execute();
}

export type RequestRow = Selectable<DatabaseSchema['web_search_requests']>;

/** That wait for the person, oldest first. */
export function selectWaiting(db: Executor, installationId: InstallationId, now: Date): Promise<RequestRow[]> {
  return db
    .selectFrom('web_search_requests')
    .selectAll()
    .where('installation_id', '=', installationId)
    .where('answer', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('id')
    .execute();
}

export async function insertRequest(db: Executor, row: RequestRow): Promise<void> {
  await db.insertInto('web_search_requests').values(row).execute();
}

/** @returns `undefined` once it is gone */
export async function selectAnswer(
  db: Executor,
  id: WebSearchId,
): Promise<{ readonly answer: WebSearchAnswer | null } | undefined> {
  return db.selectFrom('web_search_requests').select('answer').where('id', '=', id).executeTakeFirst();
}

/** @returns how many were answered */
export async function answerRequests(
  trx: Executor,
  which: { readonly installationId: InstallationId; readonly id?: WebSearchId; readonly session?: string },
  { answer, now }: { readonly answer: WebSearchAnswer; readonly now: Date },
): Promise<RequestRow[]> {
  const { installationId, id, session } = which;
  return trx
    .updateTable('web_search_requests')
    .set({ answer })
    .where('installation_id', '=', installationId)
    .where('answer', 'is', null)
    .where('expires_at', '>', now)
    .$if(id !== undefined, (query) => query.where('id', '=', id as WebSearchId))
    .$if(session !== undefined, (query) => query.where('session', '=', session as string))
    .returningAll()
    .execute();
}

export async function deleteRequest(db: Executor, id: WebSearchId): Promise<void> {
  await db.deleteFrom('web_search_requests').where('id', '=', id).execute();
}

export async function deleteRequestsOf(db: Executor, installationId: InstallationId): Promise<void> {
  await db.deleteFrom('web_search_requests').where('installation_id', '=', installationId).execute();
}

/** Those whose process died. @returns how many */
export async function deleteExpired(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('web_search_requests')
    .where('id', 'in', (query) =>
      query
        .selectFrom('web_search_requests')
        .select('id')
        .where('expires_at', '<=', proven)
        .orderBy('expires_at')
        .limit(atMost)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** For the export of an account. */
export function selectConsentsOf(db: Executor, accountKey: string) {
  return db
    .selectFrom('web_search_consents as c')
    .innerJoin('installed_apps as i', 'i.id', 'c.installation_id')
    .select(['i.app_id', 'c.consent', 'c.version', 'c.changed_at'])
    .where('i.account_key', '=', accountKey)
    .orderBy('i.app_id')
    .execute();
}
