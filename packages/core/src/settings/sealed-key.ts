// The platform's keys of providers that were added in Fleet, sealed for one provider at one origin: another origin gets none.
import type { CoreContext } from '../context.ts';
import { seal, unseal } from '../credentials/master-key.ts';
import { type SealedValues, trySealed } from '../credentials/sealed-values.ts';
import { selectStored } from './queries.ts';

export const PROVIDER_KEY = 'platform-provider-key';

export function placeOfKey(id: string, baseUrl: string): string {
  return `${id}\0${new URL(baseUrl).origin}`;
}

export function sealKey(
  { masterKey, random }: Pick<CoreContext, 'masterKey' | 'random'>,
  { id, baseUrl, key }: { readonly id: string; readonly baseUrl: string; readonly key: string },
): Buffer {
  const plain = Buffer.from(key);
  const sealed = seal(masterKey, PROVIDER_KEY, placeOfKey(id, baseUrl), plain, random);
  plain.fill(0);
  return sealed;
}

/** Opens every key once. */
export async function tryPlatformKeys({
  database,
  masterKey,
}: Pick<CoreContext, 'database' | 'masterKey'>): Promise<SealedValues> {
  const { providers } = await selectStored(database);
  async function* keys() {
    for (const { id, details, sealed } of providers) if (sealed !== null) yield { id, details, sealed };
  }
  return trySealed(keys(), ({ id, details, sealed }) =>
    unseal(masterKey, PROVIDER_KEY, placeOfKey(id, details.baseUrl), sealed),
  );
}
