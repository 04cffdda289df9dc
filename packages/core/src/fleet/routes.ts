// The inventory of the platform over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { inventoryReader } from './inventory.ts';
import { requireMasterApp } from './require-master-app.ts';

export type FleetRoute = DomainRoute<'fleet'>;

export function fleetRoutes(context: CoreContext): HandlersOf<FleetRoute> {
  const readInventory = inventoryReader(context);
  return {
    'services.system.read': async ({ caller }) => {
      await requireMasterApp(context, caller);
      return { status: 200, body: await readInventory() };
    },
  };
}
