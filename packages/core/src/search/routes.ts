// Search over HTTP: apps write their index through the Gateway, the shell asks.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import type { SearchEngine } from './engine.ts';
import { InstalledNames } from './installed-names.ts';
import type { Prepare } from './prepare-entries.ts';
import { search } from './search.ts';
import { clearIndex, removeEntries, replaceIndex, upsertIndex } from './write-index.ts';

export type SearchRoute = DomainRoute<'search'>;

export function searchRoutes(
  core: CoreContext,
  { engine, prepare }: { readonly engine: SearchEngine; readonly prepare: Prepare },
): HandlersOf<SearchRoute> {
  const context = { ...core, prepare };
  const names = new InstalledNames(core);
  return {
    'search.query': async ({ caller, query }) => ({
      status: 200,
      body: await search({ engine, names }, caller.accountKey, query),
    }),
    'services.search.replace': async ({ caller, body: { entries } }) => {
      await replaceIndex(context, caller, entries);
      return { status: 200, body: { indexed: entries.length } };
    },
    'services.search.upsert': async ({ caller, body: { entries } }) => {
      await upsertIndex(context, caller, entries);
      return { status: 200, body: { indexed: entries.length } };
    },
    'services.search.clear': async ({ caller }) => {
      await clearIndex(context, caller);
      return { status: 204 };
    },
    'services.search.remove': async ({ caller, params }) => {
      await removeEntries(context, caller, [params.entryId]);
      return { status: 204 };
    },
  };
}
