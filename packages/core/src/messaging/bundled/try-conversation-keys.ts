// Whether the master key opens the keys of conversations.
import { everyRow } from '../../account-files.ts';
import type { CoreContext } from '../../context.ts';
import { type SealedValues, trySealed } from '../../credentials/sealed-values.ts';
import { type SealedKeyRow, selectSealedKeys } from './read-queries.ts';
import { openConversationKey } from './sealed-messages.ts';

const PAGE = 500;

/** Opens every key once. */
export function tryConversationKeys(context: Pick<CoreContext, 'database' | 'masterKey'>): Promise<SealedValues> {
  const rows = everyRow((last: SealedKeyRow | undefined) =>
    selectSealedKeys(context.database, { after: last?.id ?? null, limit: PAGE }),
  );
  return trySealed(rows, ({ id, sealedKey }) => openConversationKey(context, id, sealedKey));
}
