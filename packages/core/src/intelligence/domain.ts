// The intelligence domain: AI providers of the operator, keys of accounts, budgets of apps, and the calls of Gateways.
import { jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { readAccountUsage } from './app-limits.ts';
import { overdueCalls } from './overdue-calls.ts';
import { intelligencePolicy } from './policy.ts';
import { listProviders } from './provider-keys.ts';
import { deleteKeysOf } from './queries.ts';
import { type IntelligenceRoute, intelligenceRoutes } from './routes.ts';

export function intelligenceDomain(context: CoreContext): Domain<IntelligenceRoute> {
  return {
    handlers: intelligenceRoutes(context),
    workers: [overdueCalls(context)],
    policy: intelligencePolicy(context),
    async reloaded() {
      context.settings.reloadFile();
    },
    providerEnded: (trx, provider) => deleteKeysOf(trx, provider),
    filesOf: async function* ({ accountKey }) {
      const providers = await listProviders(context, accountKey);
      yield jsonFile('ai.json', { providers, usage: await readAccountUsage(context, accountKey) });
    },
  };
}
