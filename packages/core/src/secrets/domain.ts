// The domain of secrets: what an account keeps for calls of its apps to outside services. outbound/ uses them.
import { jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { type SecretRoute, secretRoutes } from './routes.ts';
import { listSecrets } from './secrets.ts';

export function secretDomain(context: CoreContext): Domain<SecretRoute> {
  return {
    handlers: secretRoutes(context),
    filesOf: async function* ({ accountKey }) {
      yield jsonFile('secrets.json', { items: await listSecrets(context, accountKey) });
    },
  };
}
