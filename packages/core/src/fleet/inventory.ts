// The inventory of the whole platform, of one moment. Every figure comes from the domain that it belongs to.
import type { SystemInventory } from '@platform/contract';
import { countAccounts } from '../accounts/face.ts';
import { countPackages } from '../catalog/face.ts';
import { clockAlarm } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { countInstallations, countPlaces } from '../installations/face.ts';
import { countLeases } from '../leases/face.ts';
import { nodeInventory } from '../nodes/face.ts';
import { countNotifications } from '../notifications/face.ts';
import { countEntries } from '../search/face.ts';
import { PLATFORM_VERSION } from '../version.ts';
import { databaseBytes } from './queries.ts';

/** Counts scan whole tables, so a replica runs one at a time; concurrent calls share its result. */
export function inventoryReader(context: CoreContext): () => Promise<SystemInventory> {
  let reading: Promise<SystemInventory> | undefined;
  return () => {
    reading ??= read(context).finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

function read({ database, clock, time, config }: CoreContext): Promise<SystemInventory> {
  const now = clock();
  const hold = time.held();
  return database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const { nodes, capacity, traffic, topology } = await nodeInventory(trx, now, config);
      const { waiting, volumes } = await countPlaces(trx);
      return {
        accounts: await countAccounts(trx, now),
        nodes,
        capacity: { ...capacity, waiting },
        installations: await countInstallations(trx),
        traffic,
        topology: {
          origin: config.origin,
          appsDomain: config.appsDomain,
          version: PLATFORM_VERSION,
          clock: hold === null ? null : clockAlarm(hold),
          ...topology,
        },
        usage: {
          databaseBytes: await databaseBytes(trx),
          packages: await countPackages(trx),
          volumes,
          notifications: await countNotifications(trx),
          searchEntries: await countEntries(trx),
          workLeases: await countLeases(trx, now),
        },
      };
    });
}
