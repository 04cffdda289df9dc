// The home domain: how the tiles of each account's home screen are arranged.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { type HomeRoute, homeRoutes } from './routes.ts';

export function homeDomain(context: CoreContext): Domain<HomeRoute> {
  return { handlers: homeRoutes(context) };
}
