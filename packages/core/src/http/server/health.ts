// Whether this replica can serve requests: for load balancers and for people.
import type { CoreContext } from '../../context.ts';
import { PLATFORM_VERSION } from '../../version.ts';
import type { HandlersOf } from '../handlers.ts';

/** All requests that arrive while the database is being asked share its answer: anybody may ask, as often as he likes. */
export function healthRoutes({ pool }: Pick<CoreContext, 'pool'>): HandlersOf<'health.read'> {
  let asked: Promise<unknown> | null = null;
  return {
    'health.read': async () => {
      asked ??= pool.query('SELECT 1').finally(() => {
        asked = null;
      });
      await asked;
      return { status: 200, body: { status: 'ok', version: PLATFORM_VERSION } };
    },
  };
}
