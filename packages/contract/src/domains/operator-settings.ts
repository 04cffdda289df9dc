// What the operator's files say, or where they say nothing the master account in Fleet: who may register, the plan of accounts,
// AI providers and what apps may use of them. Each change is confirmed with a passkey, and kept on record.
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';
import { readableLine } from '../text.ts';
import { registrationMode } from './accounts.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import {
  currencyCode,
  intelligence,
  intelligenceDialect,
  providerId,
  providerKeyBody,
  providerModel,
} from './intelligence.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

const limits = {
  settingChanges: { value: 1_000, unit: 'items', meaning: 'changes of settings in Fleet that are kept on record' },
  modelServerSeconds: { value: 2, unit: 'seconds', meaning: 'time in which a model server on the machine must answer' },
  modelServerAnswer: {
    value: 1_048_576,
    unit: 'bytes',
    meaning: 'list of models that a model server on the machine may answer with',
  },
} as const satisfies Limits;

/** What each setting may be. */
export const settingValues = {
  registration: registrationMode,
  defaultPlan: z.enum(['free', 'paid']),
  requestsPerMinute: z.int().min(1).max(1_000_000),
  monthlyTokens: z.int().min(0).max(1e15),
  bodyMiB: z.int().min(1).max(512),
  currency: currencyCode,
} as const;
export type SettingName = keyof typeof settingValues;
export const settingNames = Object.keys(settingValues) as [SettingName, ...SettingName[]];
export type SettingValues = { readonly [Name in SettingName]: z.infer<(typeof settingValues)[Name]> };

/** Who said it: the operator's files, which win, or the master account in Fleet; nobody for `default`. */
export const settingSource = z.enum(['file', 'fleet', 'default']);
export type SettingSource = z.infer<typeof settingSource>;

function sourced<Value extends z.ZodType>(value: Value) {
  return z.strictObject({ value, source: settingSource });
}

/** What would change how a workload itself starts, or belongs to the platform. */
const RESERVED_NAME =
  /^(PLATFORM_|LD_|DYLD_|NODE_|AWS_)|^(PATH|HOME|PORT|LANG|TZ|SHELL|USER|GLIBC_TUNABLES|BASH_ENV|ENV|IFS)$/;

const variable = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be the name of a variable, such as OPENAI_BASE_URL')
  .refine((name) => !RESERVED_NAME.test(name), 'is a name that the platform or the system uses itself');

/** What a provider is, in the operator's file and in Fleet alike. */
export const providerShape = {
  name: z
    .string()
    .min(1)
    .max(60)
    .regex(...readableLine)
    .optional(),
  baseUrl: z
    .string()
    .max(1_024)
    .refine(isBaseUrl, 'must be an http: or https: address without user, query and fragment'),
  dialect: intelligenceDialect,
  streamUsage: z.boolean().optional(),
  environment: z.strictObject({ baseUrl: variable, apiKey: variable }).optional(),
  models: z.array(providerModel).max(intelligence.limits.intelligenceModels.value).optional(),
} as const;

/** What providers without `environment` get, by their place among all: the file's, then those of Fleet. */
export const NEUTRAL_NAMES = [
  { baseUrl: 'PROVIDER_A_BASE_URL', apiKey: 'PROVIDER_A_API_KEY' },
  { baseUrl: 'PROVIDER_B_BASE_URL', apiKey: 'PROVIDER_B_API_KEY' },
] as const;

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash, href } = new URL(text);
  const isPlain = username === '' && password === '' && search === '' && hash === '' && !/[?#]/.test(text);
  return (
    (protocol === 'https:' || protocol === 'http:') && isPlain && href.replace(/\/$/, '') === text.replace(/\/$/, '')
  );
}

export const operatorProvider = z.strictObject({
  provider: providerId,
  name: z.string(),
  baseUrl: z.string(),
  dialect: intelligenceDialect,
  streamUsage: z.boolean(),
  /** What backends get; `null` for none. */
  environment: z.strictObject({ baseUrl: z.string(), apiKey: z.string() }).nullable(),
  models: z.array(providerModel),
  /** The platform has a key for everybody. It is never shown. */
  keySet: z.boolean(),
  source: settingSource.exclude(['default']),
  /** `false` for one of Fleet that the file replaces by one of the same id, or for which there is no room beside the file's. */
  inForce: z.boolean(),
});
export type OperatorProvider = z.infer<typeof operatorProvider>;

export const operatorSettings = z.strictObject({
  registration: sourced(settingValues.registration),
  defaultPlan: sourced(settingValues.defaultPlan),
  requestsPerMinute: sourced(settingValues.requestsPerMinute),
  monthlyTokens: sourced(settingValues.monthlyTokens),
  bodyMiB: sourced(settingValues.bodyMiB),
  currency: sourced(settingValues.currency),
  providers: z.array(operatorProvider),
});
export type OperatorSettings = z.infer<typeof operatorSettings>;

const settingValue = z.union([z.string().max(64), z.int()]).nullable();

export const changeSettingBody = z.strictObject({
  /** `null`: what counts where nobody says anything. */
  value: settingValue,
  confirmation: passkeyConfirmation,
});

export const setProviderBody = z.strictObject({
  ...providerShape,
  /** Absent: the one there is, which ends when the origin changes. `null`: none. */
  key: providerKeyBody.shape.key.nullable().optional(),
  confirmation: passkeyConfirmation,
});

/** One change, as the record has it. */
export const recordedChange = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('setting'),
    setting: z.enum(settingNames),
    value: settingValue,
    former: settingValue,
  }),
  z.strictObject({
    kind: z.literal('provider-set'),
    provider: providerId,
    baseUrl: z.string(),
    /** `null` for a new one. */
    formerBaseUrl: z.string().nullable(),
    key: z.enum(['set', 'kept', 'removed', 'none']),
  }),
  z.strictObject({ kind: z.literal('provider-removed'), provider: providerId, baseUrl: z.string() }),
]);
export type RecordedChange = z.infer<typeof recordedChange>;

export const settingChange = z.strictObject({
  id: z.string(),
  changedAt: timestamp,
  /** The name of the account that confirmed it. */
  by: z.string(),
  change: recordedChange,
});
export type SettingChange = z.infer<typeof settingChange>;

export const modelServer = z.strictObject({
  /** What it is, as far as it says so. */
  kind: z.enum(['ollama', 'llama.cpp', 'vllm', 'lm-studio', 'other']),
  /** The base URL for a provider of the dialect `openai`. */
  baseUrl: z.string(),
  models: z.array(z.string()),
  /** The provider that has its origin already; `null` for none. */
  provider: providerId.nullable(),
});
export type ModelServer = z.infer<typeof modelServer>;

const asMaster = { callers: ['session'], origin: 'shell', rate: 'session' } as const;
const ofProvider = z.strictObject({ provider: providerId });

const routes = {
  'operator.settings.read': {
    method: 'GET',
    path: '/v1/operator/settings',
    summary: 'Registration, default plan and AI providers, and whether the operator’s files or Fleet say so',
    callers: ['session'],
    rate: 'session',
    answers: { 200: operatorSettings },
  },
  'operator.settings.changes': {
    method: 'GET',
    path: '/v1/operator/settings/changes',
    summary: 'What was changed in Fleet, by whom and when, the newest first',
    callers: ['session'],
    rate: 'session',
    query: pageQuery,
    answers: { 200: page(settingChange) },
  },
  'operator.settings.change': {
    method: 'PUT',
    path: '/v1/operator/settings/:setting',
    summary: 'Change a setting that the operator’s files leave open',
    ...asMaster,
    confirms: 'operator.setting.change',
    params: z.strictObject({ setting: z.enum(settingNames) }),
    body: json(changeSettingBody),
    answers: { 200: operatorSettings },
  },
  'operator.providers.set': {
    method: 'PUT',
    path: '/v1/operator/providers/:provider',
    summary: 'Add an AI provider that the operator’s file does not have, or change it; its key cannot be read back',
    ...asMaster,
    confirms: 'operator.provider.set',
    params: ofProvider,
    body: json(setProviderBody),
    answers: { 200: operatorSettings },
  },
  'operator.providers.remove': {
    method: 'DELETE',
    path: '/v1/operator/providers/:provider',
    summary: 'Remove an AI provider that was added in Fleet, with every key for it',
    ...asMaster,
    confirms: 'operator.provider.remove',
    params: ofProvider,
    body: json(z.strictObject({ confirmation: passkeyConfirmation })),
    answers: { 200: operatorSettings },
  },
  'operator.modelServers.find': {
    method: 'POST',
    path: '/v1/operator/model-servers/find',
    summary: 'Model servers that answer on the ports of this machine where they listen by themselves',
    ...asMaster,
    confirms: { nothing: 'looks, and changes nothing' },
    body: json(emptyBody),
    answers: { 200: z.strictObject({ items: z.array(modelServer) }) },
  },
} as const satisfies Routes;

export const operatorSettingsDomain = { limits, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Only for the platform's own Fleet, with `system.inventory.read` on `*`; core refuses every account but the master account.
     * To change something, Fleet has the shell show its page (`chrome.set` with the surface `platform`).
     */
    'system.settings': { params: undefined; result: OperatorSettings };
  }
}
