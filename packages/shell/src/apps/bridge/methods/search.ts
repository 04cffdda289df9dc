// Search: an app says by what it is found. What every app said belongs to the home screen, for which seeing that apps exist is not
// enough. Opening the shell's own search shows an app nothing.
import type { MethodsOf } from '../method.ts';
import { optional, queryText, searchEntries, wholeNumber } from '../params.ts';

export const searchMethods: MethodsOf<'search'> = {
  // What it opens is the shell's own, and every press in it is the person's: so it needs no grant, only a press.
  'search.open': {
    params: {},
    front: true,
    run: async ({ shell, caller }) => {
      await shell.openSearch(caller.appId);
      return null;
    },
  },
  'search.index': {
    params: { entries: searchEntries },
    grant: 'search.index',
    target: 'self',
    run: ({ shell, caller, params }) => shell.indexForSearch(caller.appId, params.entries),
  },
  'search.query': {
    params: { q: queryText, limit: optional(wholeNumber(1, 200)) },
    grant: 'apps.launcher.register',
    target: 'self',
    only: 'home',
    run: ({ shell, params }) => shell.call('search.query', { query: { q: params.q, limit: params.limit ?? 20 } }),
  },
};
