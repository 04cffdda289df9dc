// What the master account changes in Fleet, in the transaction that its passkey confirms: the row, the record of the change, and
// what follows from it on every core and every node. What the operator's files say cannot be changed.
import {
  limits,
  type RecordedChange,
  type RouteBody,
  refuse,
  type SettingChange,
  type SettingName,
  settingValues,
} from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { Changing } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { whyNoProvider } from './own-address.ts';
import {
  deleteProvider,
  lockSettings,
  recordChange,
  selectChanges,
  selectStored,
  storeProvider,
  storeValue,
} from './queries.ts';
import { sealKey } from './sealed-key.ts';
import { type ProviderDetails, type StoredProvider, saidByFile } from './settings.ts';

/** Variables and files that say it instead. */
const FILE_OF: Readonly<Record<SettingName, string>> = {
  registration: 'PLATFORM_REGISTRATION',
  defaultPlan: 'PLATFORM_DEFAULT_PLAN',
  requestsPerMinute: 'the file of AI providers',
  monthlyTokens: 'the file of AI providers',
  bodyMiB: 'the file of AI providers',
  currency: 'the file of AI providers',
};

/**
 * @param by the name of the account that confirmed it
 * @throws RefusalError `not_authorized` for what a file says, `invalid_request`
 */
export async function changeSetting(
  context: CoreContext,
  trx: Changing,
  {
    by,
    setting,
    value,
  }: { readonly by: string; readonly setting: SettingName; readonly value: string | number | null },
): Promise<void> {
  await lockSettings(trx);
  if (saidByFile(context.settings.files, setting) !== null)
    throw refuse('not_authorized', `${FILE_OF[setting]} says this on the server, so it cannot be changed in Fleet.`);
  const parsed = settingValues[setting].nullable().safeParse(value);
  if (!parsed.success) {
    const message = parsed.error.issues[0]?.message ?? 'is not valid';
    throw refuse('invalid_request', `\`value\` ${message}.`, { errors: [{ path: 'value', message }] });
  }
  const former = settingValues[setting].safeParse((await selectStored(trx)).values[setting]).data ?? null;
  await storeValue(trx, setting, value);
  await changed(context, trx, by, { kind: 'setting', setting, value, former });
}

export type ProviderBody = Omit<RouteBody<'operator.providers.set'>, 'confirmation'>;

/** @throws RefusalError `not_authorized` for a provider of the file, `invalid_request` */
export async function setProvider(
  context: CoreContext,
  trx: Changing,
  { by, id, body }: { readonly by: string; readonly id: string; readonly body: ProviderBody },
): Promise<void> {
  await lockSettings(trx);
  const { key, ...details } = body;
  requireNotOfFile(context, id);
  const wrong = whyNoProvider(context, details.baseUrl);
  if (wrong !== null) throw invalid('baseUrl', wrong);
  const stored = await selectStored(trx);
  const former = stored.providers.find((one) => one.id === id) ?? null;
  const isElsewhere = former !== null && !isSameOrigin(former.details.baseUrl, details.baseUrl);
  const kept = former === null || isElsewhere ? null : former.sealed;
  const sealed =
    typeof key === 'string' ? sealKey(context, { id, baseUrl: details.baseUrl, key }) : keptUnless(key, kept);
  const provider: StoredProvider = { id, details, sealed };
  requireFits(
    context,
    {
      ...stored,
      providers:
        former === null
          ? [...stored.providers, provider]
          : stored.providers.map((one) => (one.id === id ? provider : one)),
    },
    provider,
  );
  await storeProvider(trx, provider);
  // Keys of accounts go nowhere but where they were set for.
  if (isElsewhere) await context.lifecycle.providerEnded(trx, id);
  await changed(context, trx, by, {
    kind: 'provider-set',
    provider: id,
    baseUrl: details.baseUrl,
    formerBaseUrl: former?.details.baseUrl ?? null,
    key: keyWord(key, former?.sealed ?? null, sealed),
  });
}

/** @throws RefusalError `not_authorized` for a provider that the file alone has, `not_found` */
export async function removeProvider(
  context: CoreContext,
  trx: Changing,
  { by, id }: { readonly by: string; readonly id: string },
): Promise<void> {
  await lockSettings(trx);
  const { providers } = await selectStored(trx);
  const former = providers.find((one) => one.id === id);
  if (former === undefined) {
    requireNotOfFile(context, id);
    throw refuse('not_found', `Nobody added an AI provider “${id}” in Fleet.`);
  }
  await deleteProvider(trx, id);
  const isOfFile = context.settings.files.intelligence.providers.some((one) => one.id === id);
  // The one of the file that replaced it goes on, and so do the keys for that one.
  if (!isOfFile) await context.lifecycle.providerEnded(trx, id);
  await changed(context, trx, by, { kind: 'provider-removed', provider: id, baseUrl: former.details.baseUrl });
}

/** A page of the record, the newest first. */
export async function listChanges(
  db: Executor,
  page: { readonly before: string | null; readonly limit: number },
): Promise<SettingChange[]> {
  const rows = await selectChanges(db, page);
  return rows.map(({ number, changed_at, account_name, change }) => ({
    id: number,
    changedAt: changed_at.toISOString(),
    by: account_name,
    change,
  }));
}

/** Answered when this core knows it, and every node has carried out what ends. */
async function changed(context: CoreContext, trx: Changing, by: string, change: RecordedChange): Promise<void> {
  const { clock, lifecycle, settings } = context;
  await recordChange(trx, { changed_at: clock(), account_name: by, change }, limits.settingChanges.value);
  await notify(trx, 'settings-changed', {});
  await lifecycle.settingsChanged(trx);
  trx.afterCommit(() => settings.read());
}

function requireNotOfFile({ settings }: CoreContext, id: string): void {
  if (settings.files.intelligence.providers.some((one) => one.id === id))
    throw refuse(
      'not_authorized',
      `The file of AI providers on the server has “${id}”, so it cannot be changed in Fleet.`,
    );
}

/** @throws RefusalError unless the provider would be in force, with the variables that it names */
function requireFits(
  { settings }: CoreContext,
  stored: Parameters<typeof settings.with>[0],
  { id, details }: { readonly id: string; readonly details: ProviderDetails },
): void {
  const one = settings.with(stored).providers.find(({ provider, source }) => provider === id && source === 'fleet');
  if (one?.inForce !== true)
    throw refuse('invalid_request', `A platform has at most ${limits.intelligenceProviders.value} AI providers.`);
  if (details.environment !== undefined && one.environment === null)
    throw invalid('environment', 'names a variable that another provider sets');
  const { baseUrl, apiKey } = details.environment ?? {};
  if (baseUrl !== undefined && baseUrl === apiKey) throw invalid('environment', 'needs two different names');
}

function invalid(path: string, message: string): Error {
  return refuse('invalid_request', `\`${path}\` ${message}.`, { errors: [{ path, message }] });
}

function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

function keptUnless(key: null | undefined, kept: Buffer | null): Buffer | null {
  return key === null ? null : kept;
}

function keyWord(
  key: string | null | undefined,
  former: Buffer | null,
  sealed: Buffer | null,
): Extract<RecordedChange, { kind: 'provider-set' }>['key'] {
  if (typeof key === 'string') return 'set';
  if (sealed !== null) return 'kept';
  return former === null ? 'none' : 'removed';
}
