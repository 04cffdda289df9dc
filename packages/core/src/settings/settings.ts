// The settings in force, of what the operator's files say and what the master account set in Fleet. Where both speak, the files
// win.
import {
  limits,
  MiB,
  NEUTRAL_NAMES,
  type OperatorProvider,
  type OperatorSettings,
  type providerShape,
  type SettingName,
  type SettingSource,
  type SettingValues,
  settingNames,
  settingValues,
} from '@platform/contract';
import type * as z from 'zod';
import type { CoreConfig } from '../config/config.ts';
import type { IntelligenceOfFile, IntelligenceProvider, IntelligenceSettings } from '../config/intelligence-file.ts';

export interface Sourced<Value> {
  readonly value: Value;
  readonly source: SettingSource;
}

/** What is stored of a provider besides its id and its key. */
export type ProviderDetails = z.infer<z.ZodObject<typeof providerShape>>;

export interface StoredProvider {
  readonly id: string;
  readonly details: ProviderDetails;
  readonly sealed: Buffer | null;
}

/** What the master account set in Fleet. */
export interface Stored {
  /** By name; of unknown names and values nothing counts. */
  readonly values: Readonly<Record<string, unknown>>;
  /** In the order in which they were added. */
  readonly providers: readonly StoredProvider[];
}

export const NOTHING_STORED: Stored = { values: {}, providers: [] };

export type Settings = { readonly [Name in SettingName]: Sourced<SettingValues[Name]> } & {
  readonly intelligence: IntelligenceSettings;
  /** As the operator sees them: the file's, then those of Fleet. */
  readonly providers: readonly OperatorProvider[];
};

const DEFAULTS: SettingValues = {
  registration: 'open',
  defaultPlan: 'free',
  requestsPerMinute: limits.intelligenceRate.value,
  monthlyTokens: limits.intelligenceMonthlyTokens.value,
  bodyMiB: limits.intelligenceBody.value / MiB,
  currency: 'USD',
};

export interface Files {
  readonly config: Pick<CoreConfig, 'registration' | 'defaultPlan'>;
  readonly intelligence: IntelligenceOfFile;
}

/** What the files say of a setting; `null` for nothing. */
export function saidByFile<Name extends SettingName>(
  { config, intelligence }: Files,
  name: Name,
): SettingValues[Name] | null {
  const said: { readonly [Each in SettingName]: SettingValues[Each] | null } = {
    registration: config.registration,
    defaultPlan: config.defaultPlan,
    requestsPerMinute: intelligence.requestsPerMinute,
    monthlyTokens: intelligence.monthlyTokens,
    bodyMiB: intelligence.bodyMiB,
    currency: intelligence.currency,
  };
  return said[name];
}

export function sourced<Name extends SettingName>(
  said: SettingValues[Name] | null,
  stored: unknown,
  name: Name,
): Sourced<SettingValues[Name]> {
  if (said !== null) return { value: said, source: 'file' };
  const { data } = settingValues[name].safeParse(stored);
  if (data !== undefined) return { value: data as SettingValues[Name], source: 'fleet' };
  return { value: DEFAULTS[name], source: 'default' };
}

/** @param open unseals the platform's key of a provider of Fleet */
export function settingsOf(files: Files, stored: Stored, open: (provider: StoredProvider) => Buffer): Settings {
  const each = Object.fromEntries(
    settingNames.map((name) => [name, sourced(saidByFile(files, name), stored.values[name], name)]),
  ) as { readonly [Name in SettingName]: Sourced<SettingValues[Name]> };
  const merged = providersOf(files.intelligence, stored.providers, open);
  return {
    ...each,
    intelligence: {
      providers: merged.flatMap(({ provider, inForce }) => (inForce ? provider : [])),
      requestsPerMinute: each.requestsPerMinute.value,
      monthlyTokens: each.monthlyTokens.value,
      bodyBytes: each.bodyMiB.value * MiB,
      currency: each.currency.value,
    },
    providers: merged.map(viewOf),
  };
}

interface Merged {
  readonly provider: IntelligenceProvider;
  readonly source: OperatorProvider['source'];
  readonly inForce: boolean;
}

/** The file's come first, so that nothing of Fleet changes the variables that they get. */
function providersOf(
  { providers }: IntelligenceOfFile,
  stored: readonly StoredProvider[],
  open: (provider: StoredProvider) => Buffer,
): readonly Merged[] {
  const merged: Merged[] = [];
  const names = new Set<string>();
  let place = 0;
  function add(source: Merged['source'], provider: IntelligenceProvider): void {
    const isNew = !merged.some(({ provider: { id }, inForce }) => inForce && id === provider.id);
    const inForce = isNew && place < limits.intelligenceProviders.value;
    const wanted = provider.environment ?? NEUTRAL_NAMES[place] ?? null;
    const isFree = wanted !== null && ![wanted.baseUrl, wanted.apiKey].some((name) => names.has(name));
    const environment = inForce && isFree ? wanted : null;
    if (inForce) place += 1;
    if (environment !== null) names.add(environment.baseUrl).add(environment.apiKey);
    merged.push({ source, inForce, provider: { ...provider, environment } });
  }
  for (const provider of providers) add('file', provider);
  for (const one of stored) add('fleet', providerOf(one, open));
  return merged;
}

function providerOf(one: StoredProvider, open: (provider: StoredProvider) => Buffer): IntelligenceProvider {
  const { id, details, sealed } = one;
  const { name, baseUrl, dialect, streamUsage, environment, models } = details;
  return {
    id,
    name: name ?? id,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    dialect,
    streamUsage: streamUsage ?? true,
    platformKey: sealed === null ? null : { open: () => open(one) },
    environment: environment ?? null,
    models: models ?? [],
  };
}

function viewOf({ provider, source, inForce }: Merged): OperatorProvider {
  const { id, platformKey, models, ...rest } = provider;
  return { provider: id, ...rest, models: [...models], keySet: platformKey !== null, source, inForce };
}

/** As the master account sees it; no key is in it. */
export function settingsView({ intelligence: _intelligence, providers, ...each }: Settings): OperatorSettings {
  return { ...each, providers: [...providers] };
}
