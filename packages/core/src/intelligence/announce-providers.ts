// Brings a changed file of providers, or another object store, to the nodes: their assignments name both, and are read
// again when their revision grows.
import type { CoreContext } from '../context.ts';
import { storeOrigin } from '../object-storage/face.ts';
import { assignmentsChanged } from '../placement/face.ts';
import { originOfProvider } from './policy.ts';
import { keepAnnounced } from './queries.ts';

export async function announceProviders({ config, database, intelligence }: CoreContext): Promise<void> {
  const { providers, bodyBytes } = intelligence.settings;
  const told = providers.map((provider) => {
    const { id, dialect, environment } = provider;
    return [id, dialect, environment, originOfProvider(provider)];
  });
  await database.transaction().execute(async (trx) => {
    if (await keepAnnounced(trx, JSON.stringify([bodyBytes, told, storeOrigin(config)])))
      await assignmentsChanged(trx, null);
  });
}
