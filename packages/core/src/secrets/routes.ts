// The secrets of an account over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { listSecrets, putSecret, removeSecret } from './secrets.ts';

export type SecretRoute = DomainRoute<'secrets'>;

export function secretRoutes(context: CoreContext): HandlersOf<SecretRoute> {
  return {
    'secrets.list': async ({ caller: { accountKey }, query }) => {
      const items = await listSecrets(context, accountKey);
      const list = { name: `secrets:${accountKey}`, items, idOf: ({ name }: (typeof items)[number]) => name };
      return { status: 200, body: listPage(context, query, list) };
    },
    'secrets.put': async ({ caller, params, body }) => {
      await putSecret(context, caller, params.name, body.value);
      return { status: 204 };
    },
    'secrets.remove': async ({ caller, params }) => {
      await removeSecret(context, caller.accountKey, params.name);
      return { status: 204 };
    },
  };
}
