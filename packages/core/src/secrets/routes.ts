// The secrets of an account over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import type { Followers } from '../members/followers.ts';
import { listSecrets, putSecret, removeSecret } from './secrets.ts';

export type SecretRoute = DomainRoute<'secrets'>;

export function secretRoutes(context: CoreContext, followers: Followers): HandlersOf<SecretRoute> {
  return {
    'secrets.list': async ({ caller }) => ({
      status: 200,
      body: { items: await listSecrets(context, caller.accountKey) },
    }),
    'secrets.put': async ({ caller, params, body }) => {
      await putSecret(context, caller.accountKey, params.name, body.value);
      return { status: 204 };
    },
    'secrets.remove': async ({ caller, params }) => {
      await removeSecret(context, followers, caller.accountKey, params.name);
      return { status: 204 };
    },
  };
}
