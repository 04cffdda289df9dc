// Search over what every app indexed: seeing which apps exist is not enough, so it belongs to the home screen.
import type { MethodsOf } from '../method.ts';
import { optional, queryText, wholeNumber } from '../params.ts';

export const searchMethods: MethodsOf<'search'> = {
  'search.query': {
    params: { q: queryText, limit: optional(wholeNumber(1, 200)) },
    grant: 'apps.launcher.register',
    target: 'self',
    only: 'home',
    run: ({ shell, params }) => shell.call('search.query', { query: { q: params.q, limit: params.limit ?? 20 } }),
  },
};
