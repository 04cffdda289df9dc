// The dialect `anthropic`: messages, streamed and whole, and count_tokens (https://docs.anthropic.com/en/api/messages).
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
      messages: { ...GENERATES, limits: ['max_tokens'] },
      'messages/count_tokens': NOTHING,
      complete: { ...GENERATES, limits: ['max_tokens_to_sample'] },
    }),
  ),
  stores: /^(?:files|skills)(?:\/|$)/,
  uncounted: /^(?:batches|agents|sessions|environments)$/,
  ofOwner: /^(?:organizations)$/,
};

/** Below the same variable Anthropic's own clients call `v1/messages`, and the Vercel AI SDK `messages`. */
function upstreamPath(path: string, base: string): string {
  const place = path.replace(/^v1\//, '');
  return place === '' || base.endsWith('/v1') ? place : `v1/${place}`;
}

function inputOf(usage: unknown): number | null {
  return tokensOf(
    member(usage, 'input_tokens'),
    member(usage, 'cache_creation_input_tokens'),
    member(usage, 'cache_read_input_tokens'),
  );
}

function usageIn(usage: unknown): Usage | null {
  const inputTokens = inputOf(usage);
  const outputTokens = tokensOf(member(usage, 'output_tokens'));
  return inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens };
}

/** `message_start` reports the input, each `message_delta` the output so far and, from some models, the input again. */
function openStream(): StreamReader {
  let input: number | null = null;
  let output: number | null = null;
  let bytes = 0;
  return {
    event(event) {
      const type = member(event, 'type');
      const delta = member(event, 'delta');
      if (type === 'message_start') input = inputOf(member(member(event, 'message'), 'usage'));
      else if (type === 'message_delta') {
        const usage = member(event, 'usage');
        input = inputOf(usage) ?? input;
        output = tokensOf(member(usage, 'output_tokens'));
      } else if (type === 'content_block_delta')
        bytes += stringBytes([member(delta, 'text'), member(delta, 'partial_json'), member(delta, 'thinking')]);
    },
    usage: () => (input === null || output === null ? null : { inputTokens: input, outputTokens: output }),
    textBytes: () => bytes,
  };
}

export const anthropic: Dialect = {
  name: 'anthropic',
  credential: (key) => ['x-api-key', key],
  withheld: new Set(),
  endpoints,
  upstreamPath,
  usageOf: (answer) => usageIn(member(answer, 'usage')),
  textBytesOf: (answer) =>
    stringBytes(
      listOf(member(answer, 'content')).map((block) => [
        member(block, 'text'),
        member(block, 'thinking'),
        member(block, 'input'),
      ]),
    ),
  openStream,
  isUsageOnly: () => false,
  refusal: (problem) => ({
    ...problem,
    type: 'error',
    error: { type: errorType(problem.status), message: problem.detail, code: problem.code },
  }),
};
