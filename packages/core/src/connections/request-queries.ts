// The SQL of requests to connect. Every state change is guarded in its WHERE, so it holds under concurrency.
import { type Selectable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';
import type { Payload } from './tables.ts';

export type RequestRow = Selectable<DatabaseSchema['connection_requests']>;

/** Stores a request, and removes the oldest beyond `kept`. */
export async function insertRequest(
  db: Executor,
  { idHash, payload, now, expiresAt }: { idHash: Buffer; payload: Payload; now: Date; expiresAt: Date },
  kept: number,
): Promise<void> {
  await db
    .deleteFrom('connection_requests')
    .where('id_hash', 'in', (query) =>
      query
        .selectFrom('connection_requests')
        .select('id_hash')
        .orderBy('created_at', 'desc')
        .offset(kept - 1)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
  const row = { id_hash: idHash, payload: JSON.stringify(payload), created_at: now, expires_at: expiresAt };
  await db.insertInto('connection_requests').values(row).execute();
}

export function findRequest(db: Executor, idHash: Buffer, now: Date): Promise<RequestRow | undefined> {
  return db
    .selectFrom('connection_requests')
    .selectAll()
    .where('id_hash', '=', idHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** The request, which nobody has decided yet, held until the transaction ends: of concurrent decisions the first one counts. */
export function lockUndecided(db: Executor, idHash: Buffer, now: Date): Promise<RequestRow | undefined> {
  return db
    .selectFrom('connection_requests')
    .selectAll()
    .where('id_hash', '=', idHash)
    .where('expires_at', '>', now)
    .where('account_key', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

export async function storeDecision(
  db: Executor,
  {
    idHash,
    accountKey,
    payload,
    continuationHash,
  }: { idHash: Buffer; accountKey: string; payload: Payload; continuationHash: Buffer },
): Promise<void> {
  await db
    .updateTable('connection_requests')
    .set({ account_key: accountKey, payload: JSON.stringify(payload), continuation_hash: continuationHash })
    .where('id_hash', '=', idHash)
    .execute();
}

/** @returns whether the decided request went on with this: of concurrent attempts one does */
export async function takeContinuation(
  db: Executor,
  { idHash, continuationHash, now }: { idHash: Buffer; continuationHash: Buffer; now: Date },
): Promise<boolean> {
  const taken = await db
    .updateTable('connection_requests')
    .set({ continuation_hash: null })
    .where('id_hash', '=', idHash)
    .where('expires_at', '>', now)
    .where('account_key', 'is not', null)
    .where(sql<boolean>`continuation_hash = ${continuationHash}`)
    .returning('id_hash')
    .executeTakeFirst();
  return taken !== undefined;
}

export async function deleteRequest(db: Executor, idHash: Buffer): Promise<void> {
  await db.deleteFrom('connection_requests').where('id_hash', '=', idHash).execute();
}

/** @returns how many */
export async function deleteExpiredRequests(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('connection_requests')
    .where('id_hash', 'in', (query) =>
      query
        .selectFrom('connection_requests')
        .select('id_hash')
        .where('expires_at', '<=', proven)
        .orderBy('expires_at')
        .limit(atMost)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
