// All SQL of recognising the master key.
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** By what the database recognises its master key; `null` in one from before, `undefined` in one without secrets. */
export async function selectProof(db: Executor): Promise<Buffer | null | undefined> {
  const row = await db.selectFrom('master_key_check').select('proof').executeTakeFirst();
  return row === undefined ? undefined : row.proof;
}

/** Keeps the proof where there is none yet. Of two keys the first one stays. */
export async function keepProof(db: Executor, proof: Buffer): Promise<void> {
  await sql`
    INSERT INTO master_key_check AS c (proof) VALUES (${proof})
    ON CONFLICT (only_one) DO UPDATE SET proof = EXCLUDED.proof WHERE c.proof IS NULL`.execute(db);
}
