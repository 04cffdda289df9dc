// How far the platform is set up, read from the platform that runs: its configuration, its nodes, who may register.
import type { SetupState } from '@platform/contract';
import { mayBeElsewhere } from '@platform/http';
import { countAccounts, listInvitations } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { listNodes } from '../nodes/face.ts';

export async function readSetup(context: CoreContext): Promise<SetupState> {
  const { config, database, clock } = context;
  const settings = await context.settings.current();
  const { total: accounts } = await countAccounts(database, clock());
  const nodes = await listNodes(context);
  return {
    providers: settings.providers.map(({ name }) => name),
    objectStore: config.objectStore !== null,
    address: { origin: config.origin, local: !mayBeElsewhere(new URL(config.origin).hostname) },
    registration: {
      mode: settings.registration.value,
      accounts,
      invitations: (await listInvitations(context)).length,
    },
    machines: { total: nodes.length, ready: nodes.filter(({ state }) => state === 'ready').length },
  };
}
