// The pause domain: stops everything an account runs.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { type PauseRoute, pauseRoutes } from './routes.ts';

export function pauseDomain(context: CoreContext): Domain<PauseRoute> {
  return {
    handlers: pauseRoutes(context),
    emits: [emission({ signal: 'pause-changed', event: 'runtime', to: ['session'] })],
  };
}
