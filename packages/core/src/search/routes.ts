// Search over HTTP: apps write their index through the Gateway, the shell asks.
import { type DomainRoute, limits, refuse } from '@platform/contract';
import { Turns } from '../background/turns.ts';
import type { CoreContext } from '../context.ts';
import { allows } from '../grants/grant-coverage.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { missingGrant, selectOwn } from '../installations/face.ts';
import type { SearchEngine } from './engine.ts';
import type { IndexOwner } from './index-queries.ts';
import { InstalledNames } from './installed-names.ts';
import type { Prepare } from './prepare-entries.ts';
import { search } from './search.ts';
import { clearIndex, removeEntries, replaceIndex, tooSlow, upsertIndex } from './write-index.ts';

export type SearchRoute = DomainRoute<'search'>;

/** So that no account takes all connections that searches have. */
const searchTurns = {
  ofKey: limits.searchesPerAccount.value,
  waiting: limits.searchesWaiting.value,
  milliseconds: limits.searchWaitSeconds.value * 1_000,
  detail: 'Other searches of this account have not ended. Wait for their answers.',
};

/**
 * Changes of one account wait for each other here and not in the database, where each would hold a connection, however many
 * apps they come from; and large ones, which take seconds, leave connections for everything else.
 */
const writeTurns = {
  ofKey: 1,
  inAll: 4,
  waiting: 64,
  milliseconds: 10_000,
  detail:
    'Other changes of search indexes of this account have not ended. Wait for them, or send fewer at the same time.',
};

export function searchRoutes(
  core: CoreContext,
  { engine, prepare }: { readonly engine: SearchEngine; readonly prepare: Prepare },
): HandlersOf<SearchRoute> {
  const context = { ...core, prepare };
  const names = new InstalledNames(core);
  const searches = new Turns(searchTurns);
  const writes = new Turns(writeTurns);

  /** A change in the turn of its account, which ends without an effect when its time is over or nobody waits for it. */
  async function write(
    { accountKey }: { readonly accountKey: string },
    gone: AbortSignal,
    work: (over: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const end = await writes.take(accountKey, gone);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooSlow()), limits.searchWriteSeconds.value * 1_000);
    try {
      await work(AbortSignal.any([gone, late.signal]));
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  return {
    'search.query': async ({ caller, query, left }) => ({
      status: 200,
      body: await searches.run(caller.accountKey, () => search({ engine, names }, caller.accountKey, query), left),
    }),
    'apps.searchIndex': async ({ caller: { accountKey }, params: { appId }, body, left }) => {
      const owner = await ownerOf(context, accountKey, appId);
      await write(owner, left, (over) => replaceIndex({ ...context, over }, owner, body));
      return { status: 200, body: { indexed: body.keys.length } };
    },
    'services.search.replace': async ({ caller, body, left }) => {
      await write(caller, left, (over) => replaceIndex({ ...context, over }, caller, body));
      return { status: 200, body: { indexed: body.keys.length } };
    },
    'services.search.upsert': async ({ caller, body, left }) => {
      await write(caller, left, (over) => upsertIndex({ ...context, over }, caller, body));
      return { status: 200, body: { indexed: body.keys.length } };
    },
    'services.search.clear': async ({ caller, left }) => {
      await write(caller, left, (over) => clearIndex({ ...context, over }, caller));
      return { status: 204 };
    },
    'services.search.remove': async ({ caller, params, left }) => {
      await write(caller, left, (over) => removeEntries({ ...context, over }, caller, [params.entryId]));
      return { status: 204 };
    },
  };
}

/** The index that a page writes through the shell. @throws RefusalError `not_found`, or `grant_missing` without the app's own grant */
async function ownerOf(
  { database, pool }: Pick<CoreContext, 'database' | 'pool'>,
  accountKey: string,
  appId: string,
): Promise<IndexOwner> {
  const own = await selectOwn(database, accountKey, appId);
  if (own === undefined) throw refuse('not_found');
  const owner = { installationId: own.id, accountKey, appId };
  if (!allows(own.grants, 'search.index', 'self'))
    throw await missingGrant(pool, owner, { id: 'search.index', resource: 'self' });
  return owner;
}
