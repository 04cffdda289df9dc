// Whether this replica can serve requests: for load balancers and for people.
import type { CoreContext } from '../context.ts';
import { PLATFORM_VERSION } from '../version.ts';
import type { HandlersOf } from './handlers.ts';

export function healthRoutes(context: CoreContext): HandlersOf<'health.read'> {
  return {
    'health.read': async () => {
      await context.pool.query('SELECT 1');
      return { status: 200, body: { status: 'ok', version: PLATFORM_VERSION } };
    },
  };
}
