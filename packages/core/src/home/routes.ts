// The tiles of the home screen over HTTP, for the shell.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { arrangeTiles } from './arrange-tiles.ts';
import { hasBegun, selectTiles } from './queries.ts';

export type HomeRoute = DomainRoute<'home'>;

export function homeRoutes(context: CoreContext): HandlersOf<HomeRoute> {
  return {
    'home.read': async ({ caller: { accountKey } }) => {
      const [tiles, begun] = await Promise.all([
        selectTiles(context.database, accountKey),
        hasBegun(context.database, accountKey),
      ]);
      return { status: 200, body: { ...tiles, begun } };
    },
    'home.arrange': async ({ caller, body }) => ({
      status: 200,
      body: await arrangeTiles(context, caller.accountKey, body),
    }),
  };
}
