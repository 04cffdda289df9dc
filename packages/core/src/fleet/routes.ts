// The inventory of the platform and its accounts over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { guideRoutes } from './guide-routes.ts';
import { inventoryReader } from './inventory.ts';
import { listAccountsWithUse } from './list-accounts.ts';
import { operatorRoutes } from './operator-routes.ts';
import { requireMasterApp } from './require-master-app.ts';
import { settingsRoutes } from './settings-routes.ts';

export type FleetRoute = DomainRoute<'fleet' | 'operator' | 'operatorSettings' | 'guide'>;

type ModelPlaces = Parameters<typeof settingsRoutes>[1];

const ACCOUNTS = 'system-accounts';

export function fleetRoutes(context: CoreContext, modelPlaces?: ModelPlaces): HandlersOf<FleetRoute> {
  const { cursors } = context;
  const readInventory = inventoryReader(context);
  return {
    ...operatorRoutes(context),
    ...settingsRoutes(context, modelPlaces),
    ...guideRoutes(context),
    'services.system.read': async ({ caller }) => {
      await requireMasterApp(context, caller);
      return { status: 200, body: await readInventory() };
    },
    'services.system.accounts': async ({ caller, query: { limit, cursor, name } }) => {
      await requireMasterApp(context, caller);
      const after = cursor === undefined ? '' : String(cursors.decode(ACCOUNTS, cursor));
      const found = await listAccountsWithUse(context, { after, limit: limit + 1, name });
      const items = found.slice(0, limit);
      const last = items.at(-1);
      const nextCursor = found.length > limit && last !== undefined ? cursors.encode(ACCOUNTS, last.name) : null;
      return { status: 200, body: { items, nextCursor } };
    },
  };
}
