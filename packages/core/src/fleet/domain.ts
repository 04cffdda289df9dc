// The fleet domain: the operator's inventory.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { type FleetRoute, fleetRoutes } from './routes.ts';

export function fleetDomain(context: CoreContext, modelPlaces?: Parameters<typeof fleetRoutes>[1]): Domain<FleetRoute> {
  return {
    handlers: fleetRoutes(context, modelPlaces),
    gauges: [{ name: 'platform_core_clock_held', read: () => (context.time.held() === null ? 0 : 1) }],
  };
}
