// Whether a backend may use raw object storage, how often, and where the store is.
import type { CoreContext } from '../context.ts';
import { allows } from '../grants/grant-coverage.ts';
import type { PolicyPart } from '../policy.ts';
import { storeOrigin, whyNoStorage } from './offers-storage.ts';

export function objectStoragePolicy({
  config,
  rates,
  settings,
}: Pick<CoreContext, 'config' | 'rates' | 'settings'>): PolicyPart {
  return ({ grants }, now) => {
    const offered = now === null || whyNoStorage(config, settings.now, now) === null;
    if (!offered || !allows(grants, 'object-storage.raw', 'self')) return {};
    const origin = storeOrigin(config);
    return {
      node: { objectStorage: true },
      gateway: { objectStorage: true, objectStorageRate: rates.objectStorage },
      privateOrigins: origin === null ? [] : [origin],
    };
  };
}
