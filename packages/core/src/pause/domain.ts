// The pause of an account as a part of core.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { type PauseRoute, pauseRoutes } from './routes.ts';

export function pauseDomain(context: CoreContext): Domain<PauseRoute> {
  return { handlers: pauseRoutes(context) };
}
