// AI providers over HTTP: for the account that has keys and apps, and for the Gateways that make the calls.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { limitApp, readAccountUsage, readAppIntelligence } from './app-limits.ts';
import { authorizeIntelligence, renewIntelligence, settleIntelligence } from './calls.ts';
import { openFlush } from './flush.ts';
import { chooseSource, listProviders, removeKey, setKey } from './provider-keys.ts';

export type IntelligenceRoute = DomainRoute<'intelligence'>;

export function intelligenceRoutes(context: CoreContext): HandlersOf<IntelligenceRoute> {
  const flush = openFlush(context.pool);
  return {
    'account.intelligence.list': async ({ caller: { accountKey }, query }) => {
      const items = await listProviders(context, accountKey);
      const list = { name: `ai:${accountKey}`, items, idOf: ({ provider }: (typeof items)[number]) => provider };
      return { status: 200, body: listPage(context, query, list) };
    },
    'account.intelligence.setKey': async ({ caller, params, body }) => {
      await setKey(context, caller.accountKey, params.provider, body.key);
      return { status: 204 };
    },
    'account.intelligence.deleteKey': async ({ caller, params }) => {
      await removeKey(context, caller.accountKey, params.provider);
      return { status: 204 };
    },
    'account.intelligence.chooseSource': async ({ caller, params, body }) => ({
      status: 200,
      body: await chooseSource(context, caller.accountKey, params.provider, body.source),
    }),
    'account.intelligence.usage': async ({ caller }) => ({
      status: 200,
      body: await readAccountUsage(context, caller.accountKey),
    }),
    'apps.intelligence.read': async ({ caller, params }) => ({
      status: 200,
      body: await readAppIntelligence(context, caller.accountKey, params.appId),
    }),
    'apps.intelligence.limit': async ({ caller, params, body }) => ({
      status: 200,
      body: await limitApp(context, caller.accountKey, params.appId, body),
    }),
    'gateway.intelligence.authorize': async ({ caller, body }) => ({
      status: 200,
      body: await authorizeIntelligence(context, caller, body),
    }),
    'gateway.intelligence.renew': async ({ caller, body }) => {
      await renewIntelligence(context, caller, body.reservations);
      return { status: 204 };
    },
    'gateway.intelligence.settle': async ({ caller, body }) => {
      await settleIntelligence(context, flush, caller, body);
      return { status: 204 };
    },
  };
}
