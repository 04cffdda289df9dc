// All SQL of runs and their history. What changes a run is one statement that is guarded in its WHERE, so that of two
// callers at the same time one finds the run as the other left it.

import type { InstallationId, WorkflowError, WorkflowEvent, WorkflowId, WorkflowStatus } from '@platform/contract';
import { sql } from 'kysely';
import type pg from 'pg';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { Executor } from '../database/schema.ts';

/** A pool, or a connection of one. */
type Queries = Pick<pg.Pool | pg.ClientBase, 'query'>;

export interface RunIdentity {
  readonly installationId: InstallationId;
  readonly definition: string;
  readonly version: number;
  readonly idempotencyKey: string;
}

export interface RunRow {
  readonly id: WorkflowId;
  readonly definition: string;
  readonly version: number;
  readonly idempotency_key: string;
  readonly status: WorkflowStatus;
  readonly input: string;
  readonly input_hash: Buffer;
  readonly result: string | null;
  readonly result_hash: Buffer | null;
  readonly error: WorkflowError | null;
  readonly activities: number;
  readonly last_sequence: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly expires_at: Date;
  readonly completed_at: Date | null;
  readonly cleanup_at: Date | null;
}

const COLUMNS = `id, definition, version, idempotency_key, status, input, input_hash, result, result_hash, error,
  activities, last_sequence, created_at, updated_at, expires_at, completed_at, cleanup_at`;

/** What an entry of a history takes, with its place in the index. */
const EVENT_BYTES = 320;
/** What a run takes of the room of its installation: inputs, results, room for results to come, and its history. */
export const HELD_BYTES = `(stored_bytes + last_sequence * ${EVENT_BYTES})`;

/** Nobody sees a run once it is due for removal, whether or not the housekeeping was there yet. */
const isKept = (now: string) => `(cleanup_at IS NULL OR cleanup_at > ${now})`;

/**
 * Of whatever number of rows, the planner expects one, and looks each up in an index; otherwise it would read the whole
 * table, as long as this was small when the statement was prepared.
 */
export const FEW = 'LIMIT (SELECT 1000)';

const FIND = {
  name: 'find-workflow-run',
  text: `SELECT ${COLUMNS} FROM workflow_runs WHERE id = $1 AND installation_id = $2 AND ${isKept('$3')}`,
};

export async function findRun(
  pool: pg.Pool,
  installationId: InstallationId,
  id: WorkflowId,
  now: Date,
): Promise<RunRow | undefined> {
  return (await pool.query<RunRow>({ ...FIND, values: [id, installationId, now] })).rows[0];
}

/** Runs by their identities: parameters 2 to 5. */
const ASKED = `(
  SELECT * FROM unnest($2::text[], $3::integer[], $4::text[], $5::timestamptz[]) ${FEW}
) AS asked (definition, version, idempotency_key, now)`;

function askedFor(runs: readonly DatedIdentity[]): readonly unknown[][] {
  return [
    runs.map(({ definition }) => definition),
    runs.map(({ version }) => version),
    runs.map(({ idempotencyKey }) => idempotencyKey),
    runs.map(({ now }) => now),
  ];
}

/** With the time of the call. */
type DatedIdentity = RunIdentity & { readonly now: Date };

const RECOVER = {
  name: 'recover-workflow-runs',
  text: `SELECT ${COLUMNS.replaceAll(/\w+/g, 'r.$&')}
           FROM ${ASKED}, LATERAL (
                  SELECT * FROM workflow_runs
                   WHERE installation_id = $1 AND definition = asked.definition AND version = asked.version
                     AND idempotency_key = asked.idempotency_key AND ${isKept('asked.now')} OFFSET 0) r`,
};

/** Those that exist of runs of one installation, by their identities. */
export async function findRunsByIdentity(
  db: Queries,
  installationId: InstallationId,
  runs: readonly DatedIdentity[],
): Promise<ReadonlyMap<string, RunRow>> {
  const { rows } = await db.query<RunRow>({ ...RECOVER, values: [installationId, ...askedFor(runs)] });
  return byIdentity(rows);
}

function byIdentity(rows: readonly RunRow[]): ReadonlyMap<string, RunRow> {
  const keyOf = ({ definition, version, idempotency_key: idempotencyKey }: RunRow) =>
    identityKey({ definition, version, idempotencyKey });
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** Identifies a run within its installation. */
export function identityKey({
  definition,
  version,
  idempotencyKey,
}: Pick<RunIdentity, 'definition' | 'version' | 'idempotencyKey'>): string {
  return JSON.stringify([definition, version, idempotencyKey]);
}

const LOCK = {
  name: 'lock-installation-for-workflow-runs',
  text: `
    WITH installation AS MATERIALIZED (
      SELECT id FROM installed_apps WHERE id = $1 FOR NO KEY UPDATE
    ), due AS (
      DELETE FROM workflow_runs r USING installation, ${ASKED}
       WHERE r.installation_id = installation.id AND r.definition = asked.definition AND r.version = asked.version
         AND r.idempotency_key = asked.idempotency_key AND r.cleanup_at <= asked.now
    )
    SELECT FROM installation`,
};

/**
 * Serialises the creation of an installation's runs, and frees identities that runs have which are due for removal.
 *
 * @returns whether the installation is still there
 */
export async function lockForRuns(
  client: pg.ClientBase,
  installationId: InstallationId,
  runs: readonly DatedIdentity[],
): Promise<boolean> {
  return (await client.query({ ...LOCK, values: [installationId, ...askedFor(runs)] })).rows.length > 0;
}

const REPLACED = {
  name: 'select-replaced-workflow-runs',
  text: `
    SELECT id, ended_at IS NOT NULL AS has_ended
      FROM (SELECT id, ended_at, row_number() OVER kept AS number, sum(held) OVER kept AS bytes
              FROM (SELECT id, ${HELD_BYTES} AS held,
                           coalesce(completed_at, CASE WHEN expires_at <= $4 THEN expires_at END) AS ended_at
                      FROM workflow_runs WHERE installation_id = $1) r
            WINDOW kept AS (ORDER BY ended_at DESC NULLS FIRST, id)) r
     WHERE number > $2 OR bytes > $3`,
};

/**
 * Which runs make room for more, so that there are at most `runs` with `bytes` of inputs and results: those that ended
 * first.
 *
 * @returns `null` when the running ones leave no room
 */
export async function selectReplaced(
  client: pg.ClientBase,
  installationId: InstallationId,
  { runs, bytes, now }: { readonly runs: number; readonly bytes: number; readonly now: Date },
): Promise<readonly WorkflowId[] | null> {
  const { rows } = await client.query<{ id: WorkflowId; has_ended: boolean }>({
    ...REPLACED,
    values: [installationId, runs, bytes, now],
  });
  return rows.every(({ has_ended }) => has_ended) ? rows.map(({ id }) => id) : null;
}

const HELD = {
  name: 'select-room-of-workflow-runs',
  text: `SELECT coalesce(sum(${HELD_BYTES}), 0) AS held FROM workflow_runs
          WHERE installation_id = $1 AND status = 'running'`,
};

/** How many bytes the running runs of an installation take. */
export async function selectHeldBytes(pool: pg.Pool, installationId: InstallationId): Promise<number> {
  return Number((await pool.query<{ held: string }>({ ...HELD, values: [installationId] })).rows[0]?.held ?? 0);
}

export interface NewRun extends RunIdentity {
  readonly id: WorkflowId;
  readonly input: string;
  readonly inputHash: Buffer;
  readonly bytes: number;
  readonly now: Date;
  readonly expiresAt: Date;
}

const INSERT = {
  name: 'insert-workflow-runs',
  text: `
    WITH replaced AS (
      DELETE FROM workflow_runs r USING (SELECT unnest($2::text[]) AS id ${FEW}) d WHERE r.id = d.id
    ), run AS (
      INSERT INTO workflow_runs (installation_id, id, definition, version, idempotency_key, status, input, input_hash,
                                 stored_bytes, last_sequence, created_at, updated_at, expires_at)
      SELECT $1, id, definition, version, idempotency_key, 'running', input, input_hash, bytes, 1, now, now, expires_at
        FROM unnest($3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::bytea[], $9::bigint[],
                    $10::timestamptz[], $11::timestamptz[])
               AS a (id, definition, version, idempotency_key, input, input_hash, bytes, now, expires_at)
      ON CONFLICT (installation_id, definition, version, idempotency_key) DO NOTHING
      RETURNING ${COLUMNS}
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event) SELECT id, 1, created_at, 'created' FROM run
    )
    SELECT * FROM run`,
};

/** Removes the replaced ones. @returns those that were not there by their identity */
export async function insertRuns(
  client: pg.ClientBase,
  installationId: InstallationId,
  runs: readonly NewRun[],
  replaced: readonly WorkflowId[],
): Promise<ReadonlyMap<string, RunRow>> {
  const values = [
    installationId,
    replaced,
    runs.map(({ id }) => id),
    runs.map(({ definition }) => definition),
    runs.map(({ version }) => version),
    runs.map(({ idempotencyKey }) => idempotencyKey),
    runs.map(({ input }) => input),
    runs.map(({ inputHash }) => inputHash),
    runs.map(({ bytes }) => bytes),
    runs.map(({ now }) => now),
    runs.map(({ expiresAt }) => expiresAt),
  ];
  return byIdentity((await client.query<RunRow>({ ...INSERT, values })).rows);
}

const END = {
  name: 'end-workflow-run',
  text: `
    WITH run AS (
      UPDATE workflow_runs
         SET status = $4, result = $5, result_hash = $6, error = $7, stored_bytes = stored_bytes + $8,
             completed_at = $3, updated_at = $3, cleanup_at = $9, last_sequence = last_sequence + 1
       WHERE id = $1 AND installation_id = $2 AND status = 'running' AND expires_at > $3
      RETURNING ${COLUMNS}
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event) SELECT id, last_sequence, $3, $4 FROM run
    )
    SELECT ${COLUMNS} FROM run`,
};

export interface RunEnd {
  readonly id: WorkflowId;
  readonly installationId: InstallationId;
  readonly now: Date;
  readonly cleanupAt: Date;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly result: { readonly text: string; readonly hash: Buffer; readonly bytes: number } | null;
  readonly error: WorkflowError | null;
}

/** Ends a running run; `undefined` when none of this id runs. */
export async function endRun(pool: pg.Pool, end: RunEnd): Promise<RunRow | undefined> {
  const { id, installationId, now, status, result, error, cleanupAt } = end;
  const kept = [result?.text ?? null, result?.hash ?? null, error, result?.bytes ?? 0];
  const values = [id, installationId, now, status, ...kept, cleanupAt];
  return (await pool.query<RunRow>({ ...END, values })).rows[0];
}

/** Removes a run that ended. @returns whether there was one */
export async function deleteEndedRun(
  db: Executor,
  run: { readonly id: WorkflowId; readonly installationId: InstallationId; readonly now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    DELETE FROM workflow_runs
     WHERE id = ${run.id} AND installation_id = ${run.installationId}
       AND (status <> 'running' OR expires_at <= ${run.now})
       AND (cleanup_at IS NULL OR cleanup_at > ${run.now})
    RETURNING id`.execute(db);
  return rows.length > 0;
}

export interface RunSelection {
  readonly status: WorkflowStatus | undefined;
  readonly definition: string | undefined;
  /** Id of the last run on the page before. */
  readonly before: string | undefined;
  readonly limit: number;
  readonly now: Date;
}

/** The filter and order of lists, over what a list shows of a run. `columns` is never made of what a caller sent. */
function selected(columns: string, installationId: InstallationId, selection: RunSelection) {
  const { status = null, definition = null, before = null, now } = selection;
  return sql`
    SELECT ${sql.raw(columns)}, octet_length(input) + coalesce(octet_length(result), 0) AS size
      FROM workflow_runs
     WHERE installation_id = ${installationId}
       AND (cleanup_at IS NULL OR cleanup_at > ${now})
       AND (${before}::text IS NULL OR id < ${before})
       AND (${definition}::text IS NULL OR definition = ${definition})
       AND (${status}::text IS NULL
            OR ${status} = CASE WHEN status = 'running' AND expires_at <= ${now} THEN 'expired' ELSE status END)`;
}

/** Runs, newest first, as long as they have at most `bytes` of inputs and results together, but at least one. */
export async function selectRuns(
  db: Executor,
  installationId: InstallationId,
  selection: RunSelection & { readonly bytes: number },
): Promise<{ readonly rows: readonly RunRow[]; readonly more: boolean }> {
  const { rows } = await sql<RunRow & { readonly total: string }>`
    SELECT * FROM (
      SELECT *, count(*) OVER () AS total, row_number() OVER newest AS number, sum(size) OVER newest AS bytes
        FROM (${selected(COLUMNS, installationId, selection)}) r
      WINDOW newest AS (ORDER BY id DESC)) r
     WHERE number = 1 OR bytes <= ${selection.bytes}
     ORDER BY id DESC LIMIT ${selection.limit}`.execute(db);
  return { rows, more: Number(rows[0]?.total ?? 0) > rows.length };
}

export interface SummaryRow extends Omit<RunRow, 'input' | 'input_hash' | 'result' | 'result_hash' | 'last_sequence'> {
  readonly input_bytes: number;
  readonly result_bytes: number | null;
}

const SUMMARY = `id, definition, version, idempotency_key, status, error, created_at, updated_at, expires_at,
  completed_at, cleanup_at, activities, octet_length(input) AS input_bytes, octet_length(result) AS result_bytes`;

/** Runs of an installation, the newest first, without inputs and results. */
export async function selectSummaries(
  db: Executor,
  installationId: InstallationId,
  selection: RunSelection,
): Promise<readonly SummaryRow[]> {
  const { rows } = await sql<SummaryRow>`
    ${selected(SUMMARY, installationId, selection)} ORDER BY id DESC LIMIT ${selection.limit}`.execute(db);
  return rows;
}

export async function selectSummary(
  db: Executor,
  installationId: InstallationId,
  id: WorkflowId,
  now: Date,
): Promise<SummaryRow | undefined> {
  const { rows } = await sql<SummaryRow>`
    SELECT ${sql.raw(SUMMARY)} FROM workflow_runs
     WHERE id = ${id} AND installation_id = ${installationId}
       AND (cleanup_at IS NULL OR cleanup_at > ${now})`.execute(db);
  return rows[0];
}

export interface EventRow {
  readonly sequence: number;
  readonly at: Date;
  readonly event: WorkflowEvent['event'];
  readonly step: string | null;
  readonly activity_id: NonNullable<WorkflowEvent['activityId']> | null;
  readonly attempt: number | null;
}

const EVENT = sql`sequence, at, event, step, activity_id, attempt`;

/** Events after a sequence number, oldest first. */
export async function selectEvents(
  db: Executor,
  id: WorkflowId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    SELECT ${EVENT} FROM workflow_history
     WHERE run_id = ${id} AND sequence > ${after} ORDER BY sequence LIMIT ${limit}`.execute(db);
  return rows;
}

/** The newest events, in their order. */
export async function selectNewestEvents(db: Executor, id: WorkflowId, limit: number): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    SELECT ${EVENT} FROM workflow_history WHERE run_id = ${id} ORDER BY sequence DESC LIMIT ${limit}`.execute(db);
  return rows.reverse();
}

/**
 * Writes down that runs expired: the one of this id, or some of all.
 *
 * @returns how many
 */
export async function expireRuns(db: Executor, { id = null, proven, keptDays, most }: ExpiringRuns): Promise<number> {
  const { rows } = await sql<{ expired: number }>`
    WITH due AS (
      SELECT id FROM workflow_runs
       WHERE status = 'running' AND expires_at <= ${proven} AND (${id}::text IS NULL OR id = ${id})
       ORDER BY expires_at LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED
    ), run AS (
      UPDATE workflow_runs r
         SET status = 'expired', completed_at = expires_at, updated_at = expires_at, last_sequence = last_sequence + 1,
             cleanup_at = expires_at + make_interval(days => ${keptDays}::integer)
        FROM due WHERE r.id = due.id
      RETURNING r.id, r.last_sequence, r.expires_at
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event)
      SELECT id, last_sequence, expires_at, 'expired' FROM run
    )
    SELECT count(*)::integer AS expired FROM run`.execute(db);
  return rows[0]?.expired ?? 0;
}

export interface ExpiringRuns {
  readonly id?: WorkflowId | null;
  readonly proven: ProvenTime;
  readonly keptDays: number;
  readonly most: number;
}

/** Removes runs that are kept no longer. @returns how many */
export async function deleteKeptRuns(db: Executor, proven: ProvenTime, most: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM workflow_runs WHERE id IN (
      SELECT id FROM workflow_runs WHERE cleanup_at <= ${proven}
       ORDER BY cleanup_at LIMIT ${most} FOR UPDATE SKIP LOCKED)`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Ends all runs of an installation and has the housekeeping remove them. Locks them in the order of all statements. */
export async function abandonRuns(trx: Executor, installationId: InstallationId, now: Date): Promise<void> {
  await sql`
    WITH run AS MATERIALIZED (
      SELECT id FROM workflow_runs WHERE installation_id = ${installationId} ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE workflow_runs r
       SET status = CASE r.status WHEN 'running' THEN 'cancelled' ELSE r.status END,
           completed_at = coalesce(r.completed_at, ${now}), cleanup_at = ${now}
      FROM run WHERE r.id = run.id`.execute(trx);
}
