// The SQL of proposals. Every change of state is guarded in its WHERE, so of concurrent decisions the first one counts.
import type { ProposalState } from '@platform/contract';
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

export type ProposalRow = Selectable<DatabaseSchema['tool_proposals']>;

/** Of one page, in bytes of arguments; the first one is always there. */
const PAGE_BYTES = 1_024 * 1_024;

/** Until the transaction ends, nobody else adds proposals of this caller. */
export async function lockProposalsOf(trx: Executor, callerId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${callerId}, 4240))`.execute(trx);
}

/** What the caller asked for and its person did not have done, since the time in which one is decided on, and what of it waits. */
export async function countAsked(
  db: Executor,
  callerId: string,
  now: Date,
): Promise<{ readonly asked: number; readonly waitingBytes: number }> {
  const { rows } = await sql<{ readonly asked: string; readonly bytes: string }>`
    SELECT count(*) AS asked, coalesce(sum(octet_length(arguments)) FILTER (WHERE state = 'pending'), 0) AS bytes
      FROM tool_proposals
     WHERE caller_id = ${callerId} AND state IN ('pending', 'declined') AND expires_at > ${now}`.execute(db);
  return { asked: Number(rows[0]?.asked), waitingBytes: Number(rows[0]?.bytes) };
}

export async function insertProposal(db: Executor, row: ProposalRow): Promise<void> {
  await db.insertInto('tool_proposals').values(row).execute();
}

/** Removes the oldest ones of the caller beyond `kept`, but none that is being carried out. */
export async function deleteSurplus(
  db: Executor,
  { callerId, kept }: { readonly callerId: string; readonly kept: number },
): Promise<void> {
  await sql`
    DELETE FROM tool_proposals WHERE id IN (
      SELECT id FROM tool_proposals WHERE caller_id = ${callerId} AND state <> 'running'
       ORDER BY id DESC OFFSET ${kept})`.execute(db);
}

export async function deleteProposalsOf(db: Executor, callerId: string): Promise<void> {
  await db.deleteFrom('tool_proposals').where('caller_id', '=', callerId).execute();
}

/** Whose proposals a reader sees: the person all of the account, an app or client its own. */
export type Reader = { readonly accountKey: string } | { readonly callerId: string };

const isOf = (reader: Reader) =>
  'callerId' in reader
    ? sql<SqlBool>`caller_id = ${reader.callerId}`
    : sql<SqlBool>`account_key = ${reader.accountKey}`;

const isIn = (state: ProposalState, now: Date) => {
  if (state === 'expired') return sql<SqlBool>`state = 'pending' AND expires_at <= ${now}`;
  if (state === 'pending') return sql<SqlBool>`state = 'running' OR (state = 'pending' AND expires_at > ${now})`;
  return sql<SqlBool>`state = ${state}`;
};

export function findProposal(db: Executor, reader: Reader, id: string): Promise<ProposalRow | undefined> {
  return db.selectFrom('tool_proposals').selectAll().where('id', '=', id).where(isOf(reader)).executeTakeFirst();
}

/** The newest ones first, of before the proposal of this id, without results; fewer than `limit` where they are large. */
export async function selectProposals(
  db: Executor,
  reader: Reader,
  page: {
    readonly state: ProposalState | undefined;
    readonly before: string | null;
    readonly limit: number;
    readonly now: Date;
  },
): Promise<{ readonly rows: ProposalRow[]; readonly more: boolean }> {
  const { state, before, limit, now } = page;
  const { rows } = await sql<ProposalRow & { readonly bytes: string }>`
    SELECT id, account_key, caller_id, caller, caller_name, caller_host, tool, title, description, app_id, app_name,
           definition_hash, confirms, arguments_hash, state, created_at, expires_at, decided_at, NULL AS result, bytes,
           CASE WHEN place = 1 OR bytes <= ${PAGE_BYTES} THEN arguments ELSE '{}' END AS arguments
      FROM (SELECT *, sum(octet_length(arguments)) OVER newest AS bytes, row_number() OVER newest AS place
              FROM tool_proposals
             WHERE ${isOf(reader)} AND (${before}::text IS NULL OR id < ${before})
               AND (${state === undefined ? sql<SqlBool>`true` : isIn(state, now)})
            WINDOW newest AS (ORDER BY id DESC)
             ORDER BY id DESC LIMIT ${limit + 1}) AS own
     ORDER BY id DESC`.execute(db);
  const within = rows.filter((row, index) => index < limit && (index === 0 || Number(row.bytes) <= PAGE_BYTES));
  return { rows: within, more: within.length < rows.length };
}

/** @returns the proposal, held until the transaction ends; `undefined` unless it is pending */
export function lockPending(
  trx: Executor,
  { id, accountKey, now }: { readonly id: string; readonly accountKey: string; readonly now: Date },
): Promise<ProposalRow | undefined> {
  return trx
    .selectFrom('tool_proposals')
    .selectAll()
    .where('id', '=', id)
    .where('account_key', '=', accountKey)
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .forUpdate()
    .executeTakeFirst();
}

/** @returns whether it was pending until then */
export async function decideProposal(
  db: Executor,
  reader: Reader,
  { id, state, now }: { readonly id: string; readonly state: 'running' | 'declined'; readonly now: Date },
): Promise<boolean> {
  const decided = await db
    .updateTable('tool_proposals')
    .set({ state, decided_at: now })
    .where('id', '=', id)
    .where(isOf(reader))
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .returning('id')
    .executeTakeFirst();
  return decided !== undefined;
}

/** What became of one that was carried out, or could not be. */
export async function settleProposal(
  db: Executor,
  { id, state, result }: { readonly id: string; readonly state: 'executed' | 'failed'; readonly result: string },
): Promise<void> {
  await db
    .updateTable('tool_proposals')
    .set({ state, result })
    .where('id', '=', id)
    .where('state', 'in', ['pending', 'running'])
    .execute();
}

/** Those that a core began and did not end. @returns the accounts */
export async function failAbandoned(
  db: Executor,
  { until, result, atMost }: { readonly until: ProvenTime; readonly result: string; readonly atMost: number },
): Promise<string[]> {
  const { rows } = await sql<{ readonly account_key: string }>`
    UPDATE tool_proposals SET state = 'failed', result = ${result}
     WHERE id IN (SELECT id FROM tool_proposals WHERE state = 'running' AND decided_at <= ${until}
                   ORDER BY decided_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
    RETURNING account_key`.execute(db);
  return rows.map(({ account_key }) => account_key);
}

/** @returns how many */
export async function deleteOldProposals(db: Executor, until: ProvenTime, atMost: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM tool_proposals
     WHERE id IN (SELECT id FROM tool_proposals WHERE expires_at <= ${until} AND state <> 'running'
                   ORDER BY expires_at LIMIT ${atMost})`.execute(db);
  return Number(numAffectedRows);
}
