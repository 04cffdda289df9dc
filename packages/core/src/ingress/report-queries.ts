// All SQL of the counts of public requests.

import type { IngressReport, InstallationId } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

/** Remembers the report. Returns whether it is new; two of one Ingress wait for each other. */
export async function takeReport(
  db: Executor,
  ingressId: string,
  { run, sequence }: Pick<IngressReport, 'run' | 'sequence'>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE ingresses SET report_run = ${run}, report_sequence = ${sequence}
     WHERE id = ${ingressId} AND (report_run IS DISTINCT FROM ${run}::uuid OR report_sequence < ${sequence})`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

export interface CountedRequests {
  readonly label: string;
  /** `passed`, or the error code of a refusal. */
  readonly outcome: string;
  readonly count: number;
}

/** Adds to what is counted on a day; labels that are no public names count nowhere. */
export async function addRequests(db: Executor, day: string, counted: readonly CountedRequests[]): Promise<void> {
  if (counted.length === 0) return;
  await sql`
    INSERT INTO public_requests (installation_id, day, outcome, count)
    SELECT p.installation_id, ${day}::date, c.outcome, sum(c.count)
      FROM jsonb_to_recordset(${JSON.stringify(counted)}::jsonb) AS c (label text, outcome text, count bigint)
      JOIN public_labels p ON p.label = c.label
     GROUP BY p.installation_id, c.outcome
     -- In one order, so that the reports of two Ingresses do not wait for each other.
     ORDER BY p.installation_id, c.outcome
    ON CONFLICT (installation_id, day, outcome) DO UPDATE
       SET count = public_requests.count + EXCLUDED.count`.execute(db);
}

/** So many rows in one statement. */
const AT_ONCE = 1_000;

/** Some of those of days before the one of `before`, in UTC. @returns whether there may be more */
export async function deleteRequestsBefore(db: Executor, before: ProvenTime): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM public_requests WHERE (installation_id, day, outcome) IN (
      SELECT installation_id, day, outcome FROM public_requests WHERE day < ${before.toISOString().slice(0, 10)}::date LIMIT ${AT_ONCE})`.execute(
    db,
  );
  return numAffectedRows === BigInt(AT_ONCE);
}

export async function deleteRequests(db: Executor, installationId: InstallationId): Promise<void> {
  await db.deleteFrom('public_requests').where('installation_id', '=', installationId).execute();
}
