// Intelligence (specification 4.3; contract 4a): AI providers that the operator configured, used by apps through their
// Gateways within a rate and a monthly budget of tokens, under a key that no app sees.
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { appId } from '../primitives.ts';
import { json, ofApp, page, pageQuery } from './common.ts';

const limits = {
  intelligenceRate: {
    value: 60,
    unit: 'per minute',
    meaning: 'intelligence calls of one installation, unless the operator’s file says otherwise',
  },
  intelligenceMonthlyTokens: {
    value: 1_000_000,
    unit: 'items',
    meaning: 'tokens of one installation in a month (UTC), unless the operator’s file says otherwise',
  },
  intelligenceBody: {
    value: 32 * MiB,
    unit: 'bytes',
    meaning: 'request body of an intelligence call, unless the operator’s file says otherwise',
  },
  intelligenceOutput: {
    value: 16_384,
    unit: 'items',
    meaning: 'output tokens reserved for an intelligence call that sets no limit itself',
  },
  intelligenceReservationSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'time after which the reservation of a Gateway without contact is charged in full',
  },
  intelligenceHeadSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'time within which a provider must begin to answer',
  },
  intelligenceCallSeconds: { value: 3_600, unit: 'seconds', meaning: 'duration of one intelligence call' },
  intelligenceProviders: { value: 32, unit: 'items', meaning: 'AI providers of a platform' },
  intelligenceModels: {
    value: 200,
    unit: 'items',
    meaning: 'models of one installation and month that are counted apart; the rest are counted together',
  },
  intelligenceUsageModels: {
    value: 1_000,
    unit: 'items',
    meaning: 'models of all apps of an account that its use of a month lists apart; the rest are added up by app',
  },
  intelligenceKey: { value: 1_024, unit: 'characters', meaning: 'API key of an AI provider' },
} as const satisfies Limits;

const errors = {
  budget_exhausted: {
    status: 429,
    title: 'This month’s budget is used up.',
    help: 'Wait for the next month (UTC), for which `Retry-After` gives the seconds, or ask for a shorter answer. The account owner can raise the app’s limit up to the operator’s.',
  },
  placement_not_allowed: {
    status: 403,
    title: 'This is not allowed on the node where the workload runs.',
    help: 'Use your own key, or place the installation on a platform-hosted node.',
  },
} as const satisfies Errors;

/** Id of a provider in the operator's file. */
export const providerId = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -');

/** How a provider is spoken to. The Gateway has a file for each. */
export const intelligenceDialects = ['openai', 'anthropic'] as const;
export const intelligenceDialect = z.enum(intelligenceDialects);
export type IntelligenceDialect = z.infer<typeof intelligenceDialect>;

/** As providers name them, e.g. `gpt-5-mini`, `llama3.2:3b`, `org/model`. */
export const modelId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\s\p{C}]+$/u, 'must not contain spaces or control characters');

const MODEL_LIST = /^(?:v1\/)?models\/?$/;

/** What a grant must cover for a call; `null` for the list of models, which any grant of its provider allows to read. */
export function resourceOfCall(call: {
  readonly provider: string;
  readonly model: string | null;
  readonly method: string;
  /** Below the provider. */
  readonly path: string;
}): string | null {
  const { provider, model, method, path } = call;
  const isList = model === null && method === 'GET' && MODEL_LIST.test(path);
  return isList ? null : `${provider}:${model ?? '*'}`;
}

/** A provider that an installation may use, in its assignment. */
export const assignedProvider = z.strictObject({
  provider: providerId,
  dialect: intelligenceDialect,
  /** Names of the variables that lead its stock client to the Gateway; `null` where the operator chose none. */
  environment: z.strictObject({ baseUrl: z.string(), apiKey: z.string() }).nullable(),
});
export type AssignedProvider = z.infer<typeof assignedProvider>;

/** ISO 4217. */
export const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'must be the code of a currency, such as USD');

const price = z.number().min(0).max(1e9);
export const providerModel = z.strictObject({
  id: modelId,
  /** Per million tokens, in the currency of the operator's file. */
  inputPrice: price.optional(),
  outputPrice: price.optional(),
});
export type ProviderModel = z.infer<typeof providerModel>;

const keySource = z.enum(['account', 'platform']);
export const accountProvider = z.strictObject({
  provider: providerId,
  name: z.string(),
  /** The account has set a key of its own. */
  keySet: z.boolean(),
  /** The platform has a key for everybody. */
  platformKey: z.boolean(),
  /** Whose key calls are made with; `null` while there is none. */
  source: keySource.nullable(),
  models: z.array(providerModel),
});
export type AccountProvider = z.infer<typeof accountProvider>;

const ofProvider = z.strictObject({ provider: providerId });

export const providerKeyBody = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(limits.intelligenceKey.value)
    .regex(/^[\x21-\x7e]+$/, 'must be one word of printable ASCII characters'),
});

export const providerSourceBody = z.strictObject({ source: keySource });

const requestsPerMinute = z.int().min(1);
const monthlyTokens = z.int().min(0);

/** UTC. */
const month = z.string().regex(/^\d{4}-\d{2}$/);

const modelUse = z.strictObject({
  provider: providerId,
  /** Empty for calls that name none, `(other)` for models that are counted together. */
  model: z.string(),
  requests: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  /** Estimate at the operator's prices of today, in `currency`; `null` where the file has no price for these tokens. */
  cost: z.number().nullable(),
});
export type ModelUse = z.infer<typeof modelUse>;

const appLimits = z.strictObject({ requestsPerMinute, monthlyTokens });
export const appIntelligence = z.strictObject({
  limits: appLimits,
  /** The most that `limits` can be. */
  operatorLimits: appLimits,
  /** Of `cost`. */
  currency: currencyCode,
  usage: z.strictObject({
    month,
    /** Calls that reached the provider. */
    requests: z.int(),
    tokens: z.int(),
    /** Tokens held for calls under way. */
    reserved: z.int(),
    models: z.array(modelUse),
  }),
});
export type AppIntelligence = z.infer<typeof appIntelligence>;

export const accountIntelligenceUsage = z.strictObject({
  month,
  currency: currencyCode,
  models: z.array(
    z.strictObject({
      /** `null`: apps that were removed meanwhile, together. */
      appId: appId.nullable(),
      ...modelUse.shape,
    }),
  ),
});
export type AccountIntelligenceUsage = z.infer<typeof accountIntelligenceUsage>;

/** Absent: unchanged; `null`: the operator's. */
export const appIntelligenceBody = z.strictObject({
  requestsPerMinute: requestsPerMinute.nullable().optional(),
  monthlyTokens: monthlyTokens.nullable().optional(),
});

/** `res-…` of one call. */
export const reservationId = z.string().regex(/^res-[0-9a-f-]{36}$/, 'must be an id that starts with res-');

/** What a Gateway reports to core about a call; never the body. */
export const authorizeIntelligenceBody = z.strictObject({
  /** Chosen by the Gateway, which can so end it when core's answer is lost. */
  reservation: reservationId,
  provider: z.string().max(64),
  /** `null` for a call that names none. */
  model: modelId.nullable(),
  method: z.string().max(16),
  /** Below the provider's base URL, without query and leading slash. */
  path: z.string().max(4_096),
  bodyBytes: z.int().min(0),
  /** Output tokens that the call may produce: `null` when it sets no limit, 0 for one that produces none. */
  outputLimit: z.int().min(0).nullable(),
});
export type AuthorizeIntelligence = z.infer<typeof authorizeIntelligenceBody>;

export const authorizedIntelligence = z.strictObject({
  reservation: reservationId,
  dialect: intelligenceDialect,
  /** Without trailing slash. */
  baseUrl: z.string(),
  /** The key, sealed for the Gateway: purpose `intelligence`, bound to provider and base URL. */
  envelope: z.string(),
  /** What is reserved for the output of a call that names no limit, to be written into its body; `null` for one that does. */
  outputLimit: z.int().min(1).nullable(),
  /** Whether a stream may be asked to report its usage. */
  streamUsage: z.boolean().default(true),
  /** Tokens of input that the reservation estimates. */
  estimatedInput: z.int(),
  /** Of a list of models only those that match one of these pass; `null`: all. `*` at the end is a wildcard. */
  visibleModels: z.array(z.string()).nullable(),
});
export type AuthorizedIntelligence = z.infer<typeof authorizedIntelligence>;

const tokens = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const settleIntelligenceBody = z.strictObject({
  reservation: reservationId,
  inputTokens: tokens,
  outputTokens: tokens,
  /** Whether the call reached the provider. */
  reached: z.boolean(),
});
export type SettleIntelligence = z.infer<typeof settleIntelligenceBody>;

export const renewIntelligenceBody = z.strictObject({ reservations: z.array(reservationId).min(1).max(1_000) });

const routes = {
  'account.intelligence.list': {
    method: 'GET',
    path: '/v1/account/intelligence',
    summary: 'AI providers, and whose key each is used with',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(accountProvider) },
    rate: 'session',
  },
  'account.intelligence.setKey': {
    method: 'PUT',
    path: '/v1/account/intelligence/:provider/key',
    summary: 'Set the account’s own key of an AI provider; it cannot be read back',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'stores a key for a provider of the operator, and shows none' },
    params: ofProvider,
    body: json(providerKeyBody),
    answers: { 204: null },
    rate: 'session',
  },
  'account.intelligence.deleteKey': {
    method: 'DELETE',
    path: '/v1/account/intelligence/:provider/key',
    summary: 'Delete the account’s own key of an AI provider',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes a key and shows none' },
    params: ofProvider,
    answers: { 204: null },
    rate: 'session',
  },
  'account.intelligence.chooseSource': {
    method: 'PATCH',
    path: '/v1/account/intelligence/:provider',
    summary: 'Choose between the account’s own key and the platform’s',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'chooses whose key pays, and can be taken back' },
    params: ofProvider,
    body: json(providerSourceBody),
    answers: { 200: accountProvider },
    rate: 'session',
  },
  'account.intelligence.usage': {
    method: 'GET',
    path: '/v1/account/intelligence/usage',
    summary: 'What all apps of the account used of AI models this month, also those removed meanwhile',
    callers: ['session'],
    answers: { 200: accountIntelligenceUsage },
    rate: 'session',
  },
  'apps.intelligence.read': {
    method: 'GET',
    path: '/v1/apps/:appId/intelligence',
    summary: 'AI limits of an app and what it used this month',
    callers: ['session'],
    params: ofApp,
    answers: { 200: appIntelligence },
    rate: 'session',
  },
  'apps.intelligence.limit': {
    method: 'PUT',
    path: '/v1/apps/:appId/intelligence',
    summary: 'Lower the AI limits of an app',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'bounds what one app spends' },
    params: ofApp,
    body: json(appIntelligenceBody),
    answers: { 200: appIntelligence },
    rate: 'session',
  },
  'gateway.intelligence.authorize': {
    method: 'POST',
    path: '/v1/gateway/intelligence/authorize',
    summary: 'Whether a workload may make an AI call, and with which key (Gateway)',
    callers: ['installation'],
    body: json(authorizeIntelligenceBody),
    answers: { 200: authorizedIntelligence },
    refuses: ['budget_exhausted', 'grant_missing', 'not_found', 'placement_not_allowed'],
    rate: 'none',
  },
  'gateway.intelligence.renew': {
    method: 'POST',
    path: '/v1/gateway/intelligence/renew',
    summary: 'Calls that are still under way (Gateway)',
    callers: ['installation'],
    whilePaused: true,
    body: json(renewIntelligenceBody),
    answers: { 204: null },
    rate: 'none',
  },
  'gateway.intelligence.settle': {
    method: 'POST',
    path: '/v1/gateway/intelligence/settle',
    summary: 'What an AI call really used (Gateway)',
    callers: ['installation'],
    whilePaused: true,
    body: json(settleIntelligenceBody),
    answers: { 204: null },
    rate: 'none',
  },
} as const satisfies Routes;

export const intelligence = { limits, errors, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** What the app itself used of AI models this month, and its limits. Every app may ask. */
    'intelligence.usage': {
      params: undefined;
      result: {
        readonly limits: { readonly monthlyTokens: number };
        readonly usage: { readonly month: string; readonly tokens: number; readonly reserved: number };
      };
    };
  }
}
