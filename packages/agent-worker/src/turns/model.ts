// The model of the agent, behind the Gateway: which one it is, and how it is asked.
import type { StreamFn } from '@earendil-works/pi-agent-core';
import type { Api, Model } from '@earendil-works/pi-ai';
import { streamSimple as streamAnthropic } from '@earendil-works/pi-ai/api/anthropic-messages';
import { streamSimple as streamOpenai } from '@earendil-works/pi-ai/api/openai-completions';
import type { AgentOrder, AgentProblem } from '@platform/contract/agents';
import type { Platform } from '../platform/platform.ts';
import { shortly } from '../platform/shortly.ts';
import { type ModelRefusal, NO_MODEL, NO_PROVIDER } from './problem-of.ts';

type Provider = AgentOrder['providers'][number];

export interface ChosenModel {
  readonly provider: string;
  readonly id: string;
  readonly dialect: Provider['dialect'];
}

/** Lists of models name those that answer no chat as well. */
const NO_CHAT = /embed|whisper|tts|dall-e|moderation|transcri|realtime|image|audio|rerank/i;
/** What the packages want to know of a model. Nothing is decided by it here. */
const OUTPUT_TOKENS = 16_384;
const CONTEXT_TOKENS = 128_000;

/** The model that the manifest names, else the first that a provider lists: the Gateway shows those that are granted. */
export async function chooseModel(
  platform: Platform,
  order: AgentOrder,
  signal?: AbortSignal,
): Promise<ChosenModel | AgentProblem> {
  const { providers, manifest } = order;
  const { model } = manifest;
  if (providers.length === 0) return NO_PROVIDER;
  if (model !== undefined) {
    const named = providers.find(({ provider }) => provider === model.provider);
    return named === undefined ? NO_PROVIDER : { ...model, dialect: named.dialect };
  }
  for (const { provider, dialect } of providers) {
    const id = (await listModels(platform, { provider, dialect }, signal)).find((one) => !NO_CHAT.test(one));
    if (id !== undefined) return { provider, id, dialect };
  }
  return NO_MODEL;
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
