// Whose key an account uses with each AI provider. Its own keys are sealed at rest and leave core only in an envelope for
// the Gateway of a call.
import { type AccountProvider, refuse } from '@platform/contract';
import type { IntelligenceProvider } from '../config/intelligence-file.ts';
import type { CoreContext } from '../context.ts';
import { seal, unseal } from '../credentials/master-key.ts';
import { deleteKey, type KeyRow, selectKeys, upsertKey, upsertSource } from './queries.ts';

const PURPOSE = 'intelligence-key';

function placeOf(accountKey: string, provider: string): string {
  return `${accountKey}\0${provider}`;
}

export function openKey({ masterKey }: CoreContext, accountKey: string, provider: string, sealed: Buffer): Buffer {
  return unseal(masterKey, PURPOSE, placeOf(accountKey, provider), sealed);
}

/** The operator's providers, and for each whose key its calls of this account use. */
export async function listProviders(context: CoreContext, accountKey: string): Promise<AccountProvider[]> {
  const [keys, { intelligence }] = await Promise.all([
    selectKeys(context.database, accountKey),
    context.settings.current(),
  ]);
  return intelligence.providers.map((provider) =>
    viewOf(
      provider,
      keys.find((key) => key.provider === provider.id),
    ),
  );
}

function viewOf({ id, name, platformKey, models }: IntelligenceProvider, key: KeyRow | undefined): AccountProvider {
  const keySet = key?.keySet === true;
  const chosen = key?.source ?? (keySet ? 'account' : 'platform');
  const isThere = chosen === 'account' ? keySet : platformKey !== null;
  return {
    provider: id,
    name,
    keySet,
    platformKey: platformKey !== null,
    source: isThere ? chosen : null,
    models: [...models],
  };
}

/** @throws RefusalError `not_found` for a provider that the operator does not have */
export async function setKey(context: CoreContext, accountKey: string, provider: string, key: string): Promise<void> {
  await requireProvider(context, provider);
  const plain = Buffer.from(key);
  const sealed = seal(context.masterKey, PURPOSE, placeOf(accountKey, provider), plain, context.random);
  plain.fill(0);
  await upsertKey(context.database, accountKey, provider, sealed);
}

/** Also of a provider that the operator no longer has. The source becomes the default again. */
export async function removeKey(context: CoreContext, accountKey: string, provider: string): Promise<void> {
  await deleteKey(context.database, accountKey, provider);
}

/** @throws RefusalError `not_found`; `invalid_request` when there is no such key */
export async function chooseSource(
  context: CoreContext,
  accountKey: string,
  provider: string,
  source: 'account' | 'platform',
): Promise<AccountProvider> {
  const known = await requireProvider(context, provider);
  const find = async () => (await selectKeys(context.database, accountKey)).find((key) => key.provider === provider);
  if (source === 'account' && (await find())?.keySet !== true)
    throw refuse('invalid_request', `You have not set a key of your own for ${known.name}. Set it first.`);
  if (source === 'platform' && known.platformKey === null)
    throw refuse('invalid_request', `The platform has no key for ${known.name}. Set your own.`);
  await upsertSource(context.database, accountKey, provider, source);
  return viewOf(known, await find());
}

async function requireProvider({ settings }: CoreContext, provider: string): Promise<IntelligenceProvider> {
  const { intelligence } = await settings.current();
  const known = intelligence.providers.find(({ id }) => id === provider);
  if (known === undefined) throw refuse('not_found', `This platform has no AI provider "${provider}".`);
  return known;
}
