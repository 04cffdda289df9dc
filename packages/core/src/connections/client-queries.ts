// The SQL of clients that registered themselves.
import { type Selectable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type ClientRow = Selectable<DatabaseSchema['connection_clients']>;

/** Stores a client, and removes the oldest unused ones beyond `kept`. */
export async function insertClient(db: Executor, client: Omit<ClientRow, 'used_at'>, kept: number): Promise<void> {
  await db
    .deleteFrom('connection_clients')
    .where('id', 'in', (query) =>
      query
        .selectFrom('connection_clients')
        .select('id')
        .where('used_at', 'is', null)
        .orderBy('created_at', 'desc')
        .offset(kept - 1)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
  await db.insertInto('connection_clients').values(client).execute();
}

export function findClient(db: Executor, id: string): Promise<ClientRow | undefined> {
  return db.selectFrom('connection_clients').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A person allowed it something; of a client that has a document there is no row. */
export async function noteClientUsed(db: Executor, id: string, now: Date): Promise<void> {
  await db.updateTable('connection_clients').set({ used_at: now }).where('id', '=', id).execute();
}

/**
 * Of those without a connection: the ones that nobody has allowed anything for so long, and the ones that were last allowed
 * something so long ago.
 *
 * @returns how many
 */
export async function deleteUnusedClients(
  db: Executor,
  {
    proven,
    unusedSeconds,
    usedSeconds,
    atMost,
  }: {
    readonly proven: ProvenTime;
    readonly unusedSeconds: number;
    readonly usedSeconds: number;
    readonly atMost: number;
  },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('connection_clients')
    .where('id', 'in', (query) =>
      query
        .selectFrom('connection_clients')
        .select('id')
        .where(
          sql<boolean>`coalesce(used_at, created_at) <= ${proven}::timestamptz
            - CASE WHEN used_at IS NULL THEN ${unusedSeconds}::integer ELSE ${usedSeconds}::integer END * interval '1 second'`,
        )
        .where((expression) =>
          expression.not(
            expression.exists(
              expression
                .selectFrom('connections')
                .select('connections.id')
                .whereRef('connections.client_id', '=', 'connection_clients.id'),
            ),
          ),
        )
        .limit(atMost)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
