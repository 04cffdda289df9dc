// The model of the agent, behind the Gateway: which one it is, and how it is asked.
import type { StreamFn } from '@earendil-works/pi-agent-core';
import type { Api, Model } from '@earendil-works/pi-ai';
import { streamSimple as streamAnthropic } from '@earendil-works/pi-ai/api/anthropic-messages';
import { streamSimple as streamOpenai } from '@earendil-works/pi-ai/api/openai-completions';
import type { AgentOrder, AgentProblem } from '@platform/contract/agents';
import type { Platform } from '../platform/platform.ts';
import { shortly } from '../platform/shortly.ts';
import { MODEL_GONE, type ModelRefusal, NO_MODEL, NO_PROVIDER } from './problem-of.ts';

type Provider = AgentOrder['providers'][number];

export interface ModelName {
  readonly provider: string;
  readonly id: string;
}

export interface ChosenModel extends ModelName {
  readonly dialect: Provider['dialect'];
}

/** Lists of models name those that answer no chat as well. */
const NO_CHAT = /embed|whisper|tts|dall-e|moderation|transcri|realtime|image|audio|rerank/i;
/** What the packages want to know of a model. Nothing is decided by it here. */
const OUTPUT_TOKENS = 16_384;
const CONTEXT_TOKENS = 128_000;
const MOST_OFFERED = 200;

/**
 * The model that the person chose for a profile, else the one that the manifest names, else the first that a provider lists: the
 * Gateway shows those that are granted.
 */
export async function chooseModel(
  platform: Platform,
  order: AgentOrder,
  signal?: AbortSignal,
  wanted: ModelName | null = null,
): Promise<ChosenModel | AgentProblem> {
  const { providers, manifest } = order;
  const named = wanted ?? manifest.model;
  if (providers.length === 0) return NO_PROVIDER;
  if (named !== undefined) {
    const provider = providers.find((one) => one.provider === named.provider);
    if (provider !== undefined) return { ...named, dialect: provider.dialect };
    return wanted === null ? NO_PROVIDER : MODEL_GONE;
  }
  for (const provider of providers) {
    const [first] = await chatModels(platform, provider, signal);
    if (first !== undefined) return first;
  }
  return NO_MODEL;
}

/** What a person can choose from. */
export async function offeredModels(platform: Platform, { providers, manifest }: AgentOrder): Promise<ModelName[]> {
  const listed = (await Promise.all(providers.map((one) => chatModels(platform, one)))).flat();
  const all = [...(manifest.model === undefined ? [] : [manifest.model]), ...listed];
  const seen = new Map(all.map(({ provider, id }) => [`${provider}:${id}`, { provider, id }]));
  return [...seen.values()].slice(0, MOST_OFFERED);
}

async function chatModels(
  platform: Platform,
  { provider, dialect }: Provider,
  signal?: AbortSignal,
): Promise<ChosenModel[]> {
  const ids = await listModels(platform, { provider, dialect }, signal);
  return ids.filter((one) => !NO_CHAT.test(one)).map((id) => ({ provider, id, dialect }));
}

/** Empty where the provider does not say. */
async function listModels(
  platform: Platform,
  { provider, dialect }: Provider,
  signal?: AbortSignal,
): Promise<string[]> {
  try {
    const url = `${baseUrl(platform, provider)}${dialect === 'anthropic' ? '/v1' : ''}/models`;
    const answer = await platform.fetch(url, { signal: shortly(signal) });
    const value = (await answer.json()) as { readonly data?: readonly { readonly id?: unknown }[] };
    if (!answer.ok || !Array.isArray(value.data)) return [];
    return value.data.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  } catch {
    return []; // the caller says that there is no model
  }
}

function baseUrl(platform: Platform, provider: string): string {
  return `${platform.origin}/v1/services/intelligence/${provider}`;
}

export interface AskedModel {
  readonly model: Model<Api>;
  readonly stream: StreamFn;
  /** What the last call was refused with. */
  refusal(): ModelRefusal | undefined;
}

const RETRIES = 2;
const LONGEST_RETRY_MILLISECONDS = 20_000;

export function askModel(platform: Platform, { provider, id, dialect }: ChosenModel): AskedModel {
  let refusal: ModelRefusal | undefined;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    // Of this call alone: the next one may end without an answer.
    refusal = undefined;
    const answer = await platform.fetch(input, init);
    refusal = answer.ok ? undefined : await readRefusal(answer.clone());
    return answer;
  };
  const common = {
    ...{ id, name: id, provider: 'platform', baseUrl: baseUrl(platform, provider), reasoning: false },
    input: ['text' as const],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...{ contextWindow: CONTEXT_TOKENS, maxTokens: OUTPUT_TOKENS },
  };
  const options = {
    ...{ fetch, apiKey: platform.token, maxRetries: RETRIES, maxRetryDelayMs: LONGEST_RETRY_MILLISECONDS },
    onPayload: withoutLimit,
  };
  if (dialect === 'anthropic') {
    const model: Model<'anthropic-messages'> = { ...common, api: 'anthropic-messages' };
    return {
      ...{ model, refusal: () => refusal },
      stream: (_, context, more) => streamAnthropic(model, context, { ...more, ...options }),
    };
  }
  const model: Model<'openai-completions'> = {
    ...common,
    api: 'openai-completions',
    // What every server of the dialect takes; none of it is guessed from names.
    compat: {
      ...{ supportsStore: false, supportsDeveloperRole: false, supportsReasoningEffort: false },
      supportsStrictMode: false,
    },
  };
  return {
    ...{ model, refusal: () => refusal },
    stream: (_, context, more) => streamOpenai(model, context, { ...more, ...options }),
  };
}

/**
 * Without a limit of the output, the Gateway writes the one that the budget still allows; one of ours would be refused where
 * less is left.
 */
function withoutLimit(payload: unknown): unknown {
  const { max_tokens: _, max_completion_tokens: __, ...rest } = payload as Readonly<Record<string, unknown>>;
  return rest;
}

function isOfPlatform(type: unknown): boolean {
  return typeof type === 'string' && type.startsWith('urn:platform:error:');
}

async function readRefusal(answer: Response): Promise<ModelRefusal> {
  const { status } = answer;
  try {
    const value = (await answer.json()) as {
      readonly type?: unknown;
      readonly code?: unknown;
      readonly detail?: unknown;
      readonly error?: { readonly message?: unknown };
    };
    const detail = value.detail ?? value.error?.message;
    return {
      status,
      // A provider may write a code of ours as well.
      code: isOfPlatform(value.type) && typeof value.code === 'string' ? value.code : undefined,
      detail: typeof detail === 'string' ? detail : undefined,
    };
  } catch {
    return { status, code: undefined, detail: undefined };
  }
}
