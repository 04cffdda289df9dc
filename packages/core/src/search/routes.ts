// Search over HTTP: apps write their index through the Gateway, the shell asks.
import type { ServerResponse } from 'node:http';
import { type DomainRoute, limits, refuse } from '@platform/contract';
import { Turns } from '../background/turns.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import type { SearchEngine } from './engine.ts';
import { InstalledNames } from './installed-names.ts';
import type { Prepare } from './prepare-entries.ts';
import { search } from './search.ts';
import { clearIndex, removeEntries, replaceIndex, upsertIndex } from './write-index.ts';

export type SearchRoute = DomainRoute<'search'>;

/** So that no account takes all connections that searches have. */
const searchTurns = {
  ofKey: limits.searchesPerAccount.value,
  waiting: limits.searchesWaiting.value,
  milliseconds: limits.searchWaitSeconds.value * 1_000,
  detail: 'Other searches of this account have not ended. Wait for their answers.',
};

/**
 * Changes of one index wait for each other here and not in the database, where each would hold a connection; and large
 * ones, which take seconds, leave connections for everything else.
 */
const writeTurns = {
  ofKey: 1,
  inAll: 4,
  waiting: 64,
  milliseconds: 30_000,
  detail: 'Other changes of search indexes have not ended. Wait for them, or send fewer at the same time.',
};

export function searchRoutes(
  core: CoreContext,
  { engine, prepare }: { readonly engine: SearchEngine; readonly prepare: Prepare },
): HandlersOf<SearchRoute> {
  const context = { ...core, prepare };
  const names = new InstalledNames(core);
  const searches = new Turns(searchTurns);
  const writes = new Turns(writeTurns);
  return {
    'search.query': async ({ caller, query, reply }) => ({
      status: 200,
      body: await searches.run(
        caller.accountKey,
        () => search({ engine, names }, caller.accountKey, query),
        whenGone(reply.raw),
      ),
    }),
    'services.search.replace': async ({ caller, body }) => {
      await writes.run(caller.installationId, () => replaceIndex(context, caller, body));
      return { status: 200, body: { indexed: body.keys.length } };
    },
    'services.search.upsert': async ({ caller, body }) => {
      await writes.run(caller.installationId, () => upsertIndex(context, caller, body));
      return { status: 200, body: { indexed: body.keys.length } };
    },
    'services.search.clear': async ({ caller }) => {
      await writes.run(caller.installationId, () => clearIndex(context, caller));
      return { status: 204 };
    },
    'services.search.remove': async ({ caller, params }) => {
      await writes.run(caller.installationId, () => removeEntries(context, caller, [params.entryId]));
      return { status: 204 };
    },
  };
}

/** Fires when nobody waits for the answer any more: a person has typed on. */
function whenGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort(refuse('concurrency_limited', 'The client left.')));
  return gone.signal;
}
