// All SQL of the identity of a platform.
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** `undefined` in a database that has none yet. */
export async function selectIdentity(db: Executor): Promise<string | undefined> {
  const row = await db.selectFrom('platform_identity').select('id').executeTakeFirst();
  return row?.id;
}

/** Gives the database its id, unless another core was first. @param id default a new one. @returns the one that it has */
export async function keepIdentity(db: Executor, id: string | null = null): Promise<string> {
  await sql`
    INSERT INTO platform_identity (id) VALUES (coalesce(${id}::uuid, gen_random_uuid())) ON CONFLICT DO NOTHING`.execute(
    db,
  );
  const kept = await selectIdentity(db);
  if (kept === undefined) throw new Error('the platform has no identity');
  return kept;
}
