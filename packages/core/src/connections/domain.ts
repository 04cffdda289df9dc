// The connections domain: clients outside the platform, which people allow to use their tools.
import { jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { connectionCaller } from './connection-caller.ts';
import { announceEnds, listConnections } from './connections.ts';
import { accountIsSuspended, deleteConnectionsOf, deleteConnectionsOfPasskey } from './queries.ts';
import { type ConnectionRoute, connectionRoutes } from './routes.ts';
import { connectionSweep } from './sweep.ts';

export function connectionDomain(context: CoreContext): Domain<ConnectionRoute, 'connection'> {
  return {
    handlers: connectionRoutes(context),
    callers: { connection: connectionCaller(context) },
    workers: [connectionSweep(context)],
    // A pause refuses them for as long as it lasts; a suspension ends them, like sessions and command lines.
    async accountPaused(trx, accountKey) {
      if (await accountIsSuspended(trx, accountKey))
        await announceEnds(trx, await deleteConnectionsOf(trx, accountKey));
    },
    async accountDeleted(trx, accountKey) {
      await announceEnds(trx, await deleteConnectionsOf(trx, accountKey));
    },
    async passkeyRemoved(trx, passkey) {
      await announceEnds(trx, await deleteConnectionsOfPasskey(trx, passkey));
    },
    async *filesOf({ accountKey }) {
      yield jsonFile('connections.json', { items: await listConnections(context, accountKey) });
    },
  };
}
