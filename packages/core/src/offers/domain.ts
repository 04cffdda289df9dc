// The offers domain: what the platform has for the apps of an account. It keeps nothing; other domains say it.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { readOffers } from './read-offers.ts';
import { unmetOf } from './unmet.ts';

export function offersDomain(context: CoreContext): Domain<DomainRoute<'accountOffers'>> {
  return {
    handlers: {
      'account.offers': async ({ caller }) => ({ status: 200, body: await readOffers(context, caller) }),
      'development.needs': async ({ caller, params: { appId }, query: { version } }) => {
        const account = { key: caller.accountKey, name: caller.accountName };
        return { status: 200, body: { unmet: await unmetOf(context, account, { appId, version }) } };
      },
    },
  };
}
