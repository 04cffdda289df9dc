// The dialect `openai`: chat completions, responses, completions, embeddings, images and audio, as OpenAI and most model
// servers speak it (https://platform.openai.com/docs/api-reference).
import {
  type Dialect,
  errorType,
  listOf,
  member,
  type StreamReader,
  stringBytes,
  tokensOf,
  type Usage,
} from './dialect.ts';
import { type Endpoint, type EndpointTable, GENERATES, NOTHING } from './endpoints.ts';

const endpoints: EndpointTable = {
  running: new Map(
    Object.entries<Endpoint>({
      'chat/completions': {
        ...GENERATES,
        limits: ['max_completion_tokens', 'max_tokens'],
        copies: ['n'],
        reportsOnRequest: true,
      },
      completions: {
        ...GENERATES,
        limits: ['max_tokens'],
        copies: ['n', 'best_of'],
        lists: ['prompt'],
        reportsOnRequest: true,
      },
      responses: { ...GENERATES, limits: ['max_output_tokens'] },
      'responses/compact': GENERATES,
      'responses/input_tokens': NOTHING,
      embeddings: { ...NOTHING, free: false },
      moderations: NOTHING,
      'images/generations': GENERATES,
      'images/edits': GENERATES,
      'images/variations': GENERATES,
      'audio/speech': GENERATES,
      'audio/transcriptions': GENERATES,
      'audio/translations': GENERATES,
    }),
  ),
  stores: /^(?:files|uploads|vector_stores|conversations)(?:\/|$)/,
  uncounted: /^(?:batches|fine_tuning|fine-tunes|evals|assistants|threads|videos)$/,
  ofOwner: /^(?:realtime|chatkit|organization|organizations)$/,
};

/** Chat and completions count `prompt_tokens`, the newer ones `input_tokens`. */
function usageIn(usage: unknown): Usage | null {
  const inputTokens = tokensOf(member(usage, 'prompt_tokens') ?? member(usage, 'input_tokens'));
  const outputTokens = tokensOf(member(usage, 'completion_tokens') ?? member(usage, 'output_tokens') ?? 0);
  return inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens };
}

/** In the event itself, or in the response that an event of `/responses` holds. */
function usageOf(answer: unknown): Usage | null {
  return usageIn(member(answer, 'usage') ?? member(member(answer, 'response'), 'usage'));
}

function textBytesOf(answer: unknown): number {
  const choices = listOf(member(answer, 'choices')).map((choice) => [
    written(member(choice, 'message')),
    member(choice, 'text'),
  ]);
  const items = listOf(member(answer, 'output')).map((item) => [
    listOf(member(item, 'content')).map((part) => member(part, 'text')),
    member(item, 'arguments'),
  ]);
  return stringBytes([choices, items, member(answer, 'text')]);
}

function openStream(): StreamReader {
  let usage: Usage | null = null;
  let bytes = 0;
  return {
    event(event) {
      usage = usageOf(event) ?? usage;
      const delta = member(event, 'delta');
      const choices = listOf(member(event, 'choices'));
      bytes += typeof delta === 'string' ? Buffer.byteLength(delta) : 0;
      for (const choice of choices) bytes += stringBytes([written(member(choice, 'delta')), member(choice, 'text')]);
    },
    usage: () => usage,
    textBytes: () => bytes,
  };
}

/** What a model wrote, without roles, ids and types. */
function written(delta: unknown): unknown {
  return [
    member(delta, 'content'),
    member(delta, 'reasoning_content'),
    member(delta, 'reasoning'),
    member(delta, 'refusal'),
    listOf(member(delta, 'tool_calls')).map((call) => [
      member(member(call, 'function'), 'name'),
      member(member(call, 'function'), 'arguments'),
    ]),
  ];
}

export const openai: Dialect = {
  name: 'openai',
  credential: (key) => ['authorization', `Bearer ${key}`],
  withheld: new Set(['openai-organization', 'openai-project', 'api-key']),
  endpoints,
  upstreamPath: (path) => path,
  usageOf,
  textBytesOf,
  openStream,
  isUsageOnly: (event) =>
    Array.isArray(member(event, 'choices')) &&
    listOf(member(event, 'choices')).length === 0 &&
    usageIn(member(event, 'usage')) !== null,
  refusal: (problem) => ({
    ...problem,
    error: { message: problem.detail, type: errorType(problem.status), param: null, code: problem.code },
  }),
};
