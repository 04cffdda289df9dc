// Brings a changed file of providers to the nodes: their assignments name providers, and are read again when their
// revision grows.
import type { CoreContext } from '../context.ts';
import { assignmentsChanged } from '../placement/assignments.ts';
import { keepAnnounced } from './queries.ts';

export async function announceProviders({ database, intelligence }: CoreContext): Promise<void> {
  const { providers, bodyBytes } = intelligence.settings;
  const told = providers.map(({ id, dialect, environment }) => [id, dialect, environment]);
  await database.transaction().execute(async (trx) => {
    if (await keepAnnounced(trx, JSON.stringify([bodyBytes, told]))) await assignmentsChanged(trx);
  });
}
