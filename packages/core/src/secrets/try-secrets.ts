// Whether the master key opens the secrets of accounts.
import { everyRow } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { type SealedValues, trySealed } from '../credentials/sealed-values.ts';
import { type SealedSecretRow, selectSealed } from './queries.ts';
import { openSecret } from './sealed-secret.ts';

const PAGE = 500;

/** Opens every secret once. */
export function trySecrets(context: Pick<CoreContext, 'database' | 'masterKey'>): Promise<SealedValues> {
  const rows = everyRow((last: SealedSecretRow | undefined) =>
    selectSealed(context.database, { after: last ?? { accountKey: '', name: '' }, limit: PAGE }),
  );
  return trySealed(rows, ({ sealed, ...place }) => openSecret(context, place, sealed));
}
