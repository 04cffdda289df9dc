// Whether the master key opens the keys that accounts have set for AI providers.
import { everyRow } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { type SealedValues, trySealed } from '../credentials/sealed-values.ts';
import { openKey } from './provider-keys.ts';
import { type SealedKeyRow, selectSealedKeys } from './queries.ts';

const PAGE = 500;

/** Opens every key once. */
export function tryProviderKeys(context: CoreContext): Promise<SealedValues> {
  const rows = everyRow((last: SealedKeyRow | undefined) =>
    selectSealedKeys(context.database, { after: last ?? { accountKey: '', provider: '' }, limit: PAGE }),
  );
  return trySealed(rows, ({ accountKey, provider, sealed }) => openKey(context, accountKey, provider, sealed));
}
