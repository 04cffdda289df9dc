// All SQL of the clock guard.
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';
import type { Reading } from './machine-time.ts';

/** Starts of machines whose last reading is kept. */
const BOOTS = 32;

export interface OnRecord {
  /** Of this start of this machine. */
  readonly own: (Reading & { readonly maybeOff: boolean }) | null;
  /** The newest time that any core read. */
  readonly newest: Date | null;
  readonly acceptance: Acceptance | null;
  /** PostgreSQL's clock. */
  readonly database: Date;
}

export interface Acceptance extends Reading {
  readonly revision: number;
  readonly boot: string;
}

interface Row {
  own_at: Date | null;
  own_uptime: number | null;
  maybe_off: boolean | null;
  newest: Date | null;
  revision: number | null;
  boot: string | null;
  at: Date | null;
  uptime: number | null;
  database: Date;
}

export async function readRecord(db: Executor, boot: string): Promise<OnRecord> {
  const { rows } = await sql<Row>`
    SELECT r.at AS own_at, r.uptime_milliseconds AS own_uptime, r.maybe_off, (SELECT max(at) FROM clock_readings) AS newest,
           a.revision, a.boot, a.at, a.uptime_milliseconds AS uptime, clock_timestamp() AS database
      FROM (SELECT) one LEFT JOIN clock_readings r ON r.boot = ${boot} LEFT JOIN clock_acceptances a ON a.single`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the clock record could not be read');
  const { own_at, own_uptime, maybe_off, newest, revision, boot: of, at, uptime, database } = row;
  return {
    own:
      own_at === null || own_uptime === null
        ? null
        : { at: own_at, uptimeMilliseconds: own_uptime, maybeOff: maybe_off === true },
    newest,
    acceptance:
      revision === null || of === null || at === null || uptime === null
        ? null
        : { revision, boot: of, at, uptimeMilliseconds: uptime },
    database,
  };
}

/** Notes what this start of the machine knows, unless the operator has spoken since `revision`; forgets the oldest starts. */
export async function noteReading(
  db: Executor,
  {
    boot,
    reading,
    maybeOff,
    revision,
  }: {
    readonly boot: string;
    readonly reading: Reading;
    readonly maybeOff: boolean;
    readonly revision: number;
  },
): Promise<void> {
  await sql`
    WITH surplus AS (
      DELETE FROM clock_readings WHERE boot IN (
        SELECT boot FROM clock_readings WHERE boot <> ${boot} ORDER BY at DESC OFFSET ${BOOTS}))
    INSERT INTO clock_readings (boot, at, uptime_milliseconds, maybe_off)
    SELECT ${boot}, ${reading.at}, ${reading.uptimeMilliseconds}, ${maybeOff}
     WHERE COALESCE((SELECT revision FROM clock_acceptances), 0) = ${revision}
    ON CONFLICT (boot) DO UPDATE SET at = excluded.at, uptime_milliseconds = excluded.uptime_milliseconds,
                                     maybe_off = excluded.maybe_off`.execute(db);
}

/** Puts this reading in the place of everything on record. */
export async function acceptReading(
  db: Executor,
  { boot, reading }: { readonly boot: string; readonly reading: Reading },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`
      INSERT INTO clock_acceptances AS a (revision, boot, at, uptime_milliseconds)
      VALUES (1, ${boot}, ${reading.at}, ${reading.uptimeMilliseconds})
      ON CONFLICT (single) DO UPDATE SET revision = a.revision + 1, boot = excluded.boot, at = excluded.at,
                                       uptime_milliseconds = excluded.uptime_milliseconds`.execute(trx);
    await sql`DELETE FROM clock_readings`.execute(trx);
    await sql`
      INSERT INTO clock_readings (boot, at, uptime_milliseconds)
      VALUES (${boot}, ${reading.at}, ${reading.uptimeMilliseconds})`.execute(trx);
  });
}
