// The dialect `anthropic`: messages, streamed and whole, and count_tokens (https://docs.anthropic.com/en/api/messages).
import { type Dialect, errorType } from './dialect.ts';
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

export const anthropic: Dialect = {
  name: 'anthropic',
  credential: (key) => ['x-api-key', key],
  withheld: new Set(),
  endpoints,
  upstreamPath,
  tokens: {
    input: [['input_tokens'], ['cache_creation_input_tokens'], ['cache_read_input_tokens']],
    output: [['output_tokens']],
  },
  copyOf: () => 'pieces',
  refusal: (problem) => ({
    ...problem,
    type: 'error',
    error: { type: errorType(problem.status), message: problem.detail, code: problem.code },
  }),
};
