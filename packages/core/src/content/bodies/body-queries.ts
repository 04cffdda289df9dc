// All SQL of the bytes that items and files consist of: a body is kept in pieces, so that none is ever held as a whole.
import { sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import { type IdSource, uuidv7 } from '../../credentials/ids.ts';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

export interface NewBody {
  readonly id: string;
  readonly spaceId: string;
  readonly used: boolean;
  readonly size: number;
  readonly at: Date;
}

export async function insertBody(trx: Executor, { id, spaceId, used, size, at }: NewBody): Promise<void> {
  await trx
    .insertInto('content_bodies')
    .values({ id, space_id: spaceId, used, size: String(size), created_at: at, read_until: null })
    .execute();
}

/** Where the bytes of a piece are: here, or in the object store. */
export type PiecePlace =
  | { readonly bytes: Buffer }
  | { readonly objectKey: string; readonly sha256: Buffer; readonly at: Date };

export async function insertPiece(trx: Executor, bodyId: string, number: number, place: PiecePlace): Promise<void> {
  const row = { body_id: bodyId, number };
  if ('bytes' in place) {
    const { bytes } = place;
    await trx
      .insertInto('content_pieces')
      .values({ ...row, bytes, object_key: null, sha256: null })
      .execute();
    return;
  }
  const { objectKey, sha256, at } = place;
  await trx.insertInto('content_objects').values({ key: objectKey, created_at: at }).execute();
  await trx
    .insertInto('content_pieces')
    .values({ ...row, bytes: null, object_key: objectKey, sha256 })
    .execute();
}

/** Of a body that arrives. @returns false when it was given up meanwhile */
export async function growBody(trx: Executor, id: string, bytes: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE content_bodies SET size = size + ${bytes} WHERE id = ${id} AND NOT used`.execute(trx);
  return numAffectedRows === 1n;
}

/** @returns false when it was given up meanwhile */
export async function useBody(trx: Executor, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE content_bodies SET used = true WHERE id = ${id} AND NOT used`.execute(trx);
  return numAffectedRows === 1n;
}

/** Negative to give back. */
export async function addUse(trx: Executor, spaceId: string, bytes: number): Promise<void> {
  await sql`UPDATE content_spaces SET bytes = bytes + ${bytes} WHERE id = ${spaceId}`.execute(trx);
}

/** With what it took of the space. @param overhead what each body takes besides its bytes */
export async function deleteBodies(trx: Executor, ids: readonly string[], overhead: number): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM content_bodies WHERE id = ANY (${[...ids]}) RETURNING space_id, size),
    freed AS (
      SELECT space_id, sum(size + ${overhead})::bigint AS bytes FROM gone GROUP BY space_id)
    UPDATE content_spaces s SET bytes = s.bytes - freed.bytes FROM freed WHERE s.id = freed.space_id`.execute(trx);
}

/** Somebody reads it until then at least. @returns false when it is gone */
export async function holdBody(db: Executor, id: string, until: Date): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE content_bodies SET read_until = greatest(read_until, ${until}) WHERE id = ${id} AND used`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Of what takes the place of these, or deletes what they belong to. What somebody reads stays for them, and takes its space until
 * then; everything else goes at once.
 */
export async function retireBodies(
  trx: Executor,
  ids: readonly string[],
  { now, overhead }: { readonly now: Date; readonly overhead: number },
): Promise<void> {
  const rows = await trx
    .selectFrom('content_bodies')
    .select(['id', 'read_until'])
    .where('id', 'in', [...ids])
    .orderBy('id')
    .forUpdate()
    .execute();
  const isRead = ({ read_until: until }: { readonly read_until: Date | null }) => until !== null && until > now;
  const read = rows.filter(isRead).map(({ id }) => id);
  if (read.length > 0) await trx.updateTable('content_bodies').set({ former: true }).where('id', 'in', read).execute();
  const rest = rows.filter((row) => !isRead(row)).map(({ id }) => id);
  if (rest.length > 0) await deleteBodies(trx, rest, overhead);
}

/** Of former ones that nobody reads any more. @returns how many were deleted */
export async function deleteFormer(
  db: Executor,
  { proven, atMost, overhead }: { readonly proven: ProvenTime; readonly atMost: number; readonly overhead: number },
): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM content_bodies WHERE former AND read_until <= ${proven} ORDER BY read_until LIMIT ${atMost}
    FOR UPDATE SKIP LOCKED`.execute(db);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await deleteBodies(db, ids, overhead);
  return ids.length;
}

/** Of an upload that came to nothing. One that something has by now stays: whether a commit took effect is not always known. */
export async function deleteUnused(trx: Executor, id: string, overhead: number): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM content_bodies WHERE id = ${id} AND NOT used RETURNING space_id, size)
    UPDATE content_spaces s SET bytes = s.bytes - gone.size - ${overhead} FROM gone WHERE s.id = gone.space_id`.execute(
    trx,
  );
}

/** Makes another body of the same bytes, which nothing has yet, and counts it. @returns its id */
export async function copyBody(trx: Executor, source: IdSource, from: string, overhead: number): Promise<string> {
  const id = `bdy-${uuidv7(source)}`;
  await sql`
    WITH copied AS (
      INSERT INTO content_bodies (id, space_id, size, used, created_at)
      SELECT ${id}, space_id, size, false, ${source.clock()} FROM content_bodies WHERE id = ${from}
      RETURNING space_id, size)
    UPDATE content_spaces s SET bytes = s.bytes + copied.size + ${overhead}
      FROM copied WHERE s.id = copied.space_id`.execute(trx);
  await sql`
    INSERT INTO content_pieces (body_id, number, bytes, object_key, sha256)
    SELECT ${id}, number, bytes, object_key, sha256 FROM content_pieces WHERE body_id = ${from}`.execute(trx);
  return id;
}

/** `undefined` where it was deleted meanwhile. */
export function selectPiece(db: Executor, bodyId: string, number: number): Promise<PieceRow | undefined> {
  return db
    .selectFrom('content_pieces')
    .select(['bytes', 'object_key', 'sha256'])
    .where('body_id', '=', bodyId)
    .where('number', '=', number)
    .executeTakeFirst();
}

export type PieceRow = Pick<DatabaseSchema['content_pieces'], 'bytes' | 'object_key' | 'sha256'>;

/** Of what nobody used in time: an upload that a killed process left. @returns how many were deleted */
export async function deleteAbandoned(
  db: Executor,
  { proven, atMost, overhead }: { readonly proven: ProvenTime; readonly atMost: number; readonly overhead: number },
): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM content_bodies WHERE NOT used AND created_at <= ${proven} ORDER BY created_at LIMIT ${atMost}
    FOR UPDATE SKIP LOCKED`.execute(db);
  if (rows.length > 0)
    await deleteBodies(
      db,
      rows.map(({ id }) => id),
      overhead,
    );
  return rows.length;
}
