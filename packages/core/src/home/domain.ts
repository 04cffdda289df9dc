// The home domain: how the tiles of each account's home screen are arranged.
import { jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { selectTiles } from './queries.ts';
import { type HomeRoute, homeRoutes } from './routes.ts';

export function homeDomain(context: CoreContext): Domain<HomeRoute> {
  return {
    handlers: homeRoutes(context),
    emits: [emission({ signal: 'home-changed', event: 'apps', to: ['session'] })],
    filesOf: async function* ({ accountKey }) {
      yield jsonFile('home.json', await selectTiles(context.database, accountKey));
    },
  };
}
