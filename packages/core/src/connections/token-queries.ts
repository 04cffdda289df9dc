// The SQL of codes and tokens, by their SHA-256.
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';
import type { Payload } from './tables.ts';

export type TokenKind = DatabaseSchema['connection_tokens']['kind'];

export interface StoredToken {
  readonly payload: Payload;
  readonly connection_id: string;
  readonly used_at: Date | null;
}

export async function insertToken(
  db: Executor,
  {
    payload,
    ...token
  }: { tokenHash: Buffer; connectionId: string; kind: TokenKind; payload: Payload; now: Date; expiresAt: Date },
): Promise<void> {
  await db
    .insertInto('connection_tokens')
    .values({
      token_hash: token.tokenHash,
      connection_id: token.connectionId,
      kind: token.kind,
      payload: JSON.stringify(payload),
      created_at: token.now,
      expires_at: token.expiresAt,
    })
    .execute();
}

export function findToken(
  db: Executor,
  { kind, tokenHash, now }: { kind: TokenKind; tokenHash: Buffer; now: Date },
): Promise<StoredToken | undefined> {
  return db
    .selectFrom('connection_tokens')
    .select(['payload', 'connection_id', 'used_at'])
    .where('token_hash', '=', tokenHash)
    .where('kind', '=', kind)
    .where('expires_at', '>', now)
    .executeTakeFirst() as Promise<StoredToken | undefined>;
}

/** @returns whose it is, and whether this was its first use: of concurrent ones exactly one is */
export async function useToken(
  db: Executor,
  { kind, tokenHash, now }: { kind: TokenKind; tokenHash: Buffer; now: Date },
): Promise<{ readonly connectionId: string; readonly isFirst: boolean } | undefined> {
  const used = await db
    .updateTable('connection_tokens')
    .set({ used_at: now })
    .where('token_hash', '=', tokenHash)
    .where('kind', '=', kind)
    .where('used_at', 'is', null)
    .returning('connection_id')
    .executeTakeFirst();
  if (used !== undefined) return { connectionId: used.connection_id, isFirst: true };
  const again = await db
    .selectFrom('connection_tokens')
    .select('connection_id')
    .where('token_hash', '=', tokenHash)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return again === undefined ? undefined : { connectionId: again.connection_id, isFirst: false };
}

/** Forgets which refresh tokens of a connection were used, but for the newest. */
export async function deleteUsedBeyond(db: Executor, connectionId: string, kept: number): Promise<void> {
  await db
    .deleteFrom('connection_tokens')
    .where('token_hash', 'in', (query) =>
      query
        .selectFrom('connection_tokens')
        .select('token_hash')
        .where('connection_id', '=', connectionId)
        .where('kind', '=', 'refresh')
        .where('used_at', 'is not', null)
        .orderBy('created_at', 'desc')
        .offset(kept),
    )
    .execute();
}

export async function deleteToken(db: Executor, kind: TokenKind, tokenHash: Buffer): Promise<void> {
  await db.deleteFrom('connection_tokens').where('token_hash', '=', tokenHash).where('kind', '=', kind).execute();
}

/** @returns how many */
export async function deleteExpiredTokens(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('connection_tokens')
    .where('token_hash', 'in', (query) =>
      query
        .selectFrom('connection_tokens')
        .select('token_hash')
        .where('expires_at', '<=', proven)
        .orderBy('expires_at')
        .limit(atMost)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
