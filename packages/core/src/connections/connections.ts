// Connections of an account: how they are shown, and how they end. When one ends, its tokens end with it on every core.
import { appId, type Connection } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notifyEach } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { type ConnectionRow, connectionsOf, deleteConnection, type EndedConnection } from './queries.ts';

export async function listConnections(
  { database, clock }: Pick<CoreContext, 'database' | 'clock'>,
  accountKey: string,
): Promise<Connection[]> {
  return (await connectionsOf(database, accountKey, clock())).map(connectionView);
}

function connectionView(row: ConnectionRow): Connection {
  return {
    id: row.id,
    client: { name: row.client_name, host: row.client_host },
    app: row.app_id === null ? null : appId.parse(row.app_id),
    scopes: row.scopes,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}

/** @returns whether there was one, of this account if one is named */
export function endConnection(
  { database }: Pick<CoreContext, 'database'>,
  id: string,
  accountKey?: string,
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const ended = await deleteConnection(trx, id, accountKey);
    if (ended === undefined) return false;
    await announceEnds(trx, [ended]);
    return true;
  });
}

/** In the transaction that ended them. */
export function announceEnds(trx: Executor, ended: readonly EndedConnection[]): Promise<void> {
  return notifyEach(
    trx,
    'connection-ended',
    ended.map(({ id, account_key: accountKey }) => ({ accountKey, connectionId: id })),
  );
}
