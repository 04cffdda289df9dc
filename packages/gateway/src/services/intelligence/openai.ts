// The dialect `openai`: chat completions, responses, completions, embeddings, images and audio, as OpenAI and most model
// servers speak it (https://platform.openai.com/docs/api-reference).
import { type Dialect, errorType, member } from './dialect.ts';
import { type Endpoint, type EndpointTable, GENERATES, NOTHING } from './endpoints.ts';

/** Sounds and pictures. */
const DRAWS: Endpoint = { ...GENERATES, answersMedia: true };

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
      'images/generations': DRAWS,
      'images/edits': DRAWS,
      'images/variations': DRAWS,
      'audio/speech': DRAWS,
      'audio/transcriptions': GENERATES,
      'audio/translations': GENERATES,
    }),
  ),
  stores: /^(?:files|uploads|vector_stores|conversations)(?:\/|$)/,
  uncounted: /^(?:batches|fine_tuning|fine-tunes|evals|assistants|threads|videos)$/,
  ofOwner: /^(?:realtime|chatkit|organization|organizations)$/,
};

/** Events of `/responses` that have text again which came in pieces before, and which copy of it. */
const AGAIN = new Map<string, string | null>([
  ...listed(['created', 'queued', 'in_progress', 'output_item.added', 'content_part.added'], null),
  ...listed(['reasoning_summary_part.added', 'audio.delta', 'audio.done'], null),
  ...listed(['output_audio.delta', 'output_audio.done'], null),
  ...listed(['completed', 'incomplete', 'failed'], 'response'),
  ...listed(['output_item.done'], 'items'),
  ...listed(['content_part.done', 'reasoning_summary_part.done'], 'parts'),
  ...listed(['output_text.done', 'refusal.done', 'reasoning_text.done', 'reasoning_summary_text.done'], 'texts'),
  ...listed(['function_call_arguments.done', 'mcp_call_arguments.done', 'custom_tool_call_input.done'], 'texts'),
  ...listed(['code_interpreter_call_code.done', 'audio.transcript.done', 'output_audio_transcript.done'], 'texts'),
]);

function listed(events: readonly string[], copy: string | null): [string, string | null][] {
  return events.map((event) => [`response.${event}`, copy]);
}

function copyOf(event: unknown): string | null {
  const copy = AGAIN.get(String(member(event, 'type')));
  return copy === undefined ? 'pieces' : copy;
}

export const openai: Dialect = {
  name: 'openai',
  credential: (key) => ['authorization', `Bearer ${key}`],
  withheld: new Set(['openai-organization', 'openai-project', 'api-key']),
  endpoints,
  upstreamPath: (path) => path,
  // Chat and completions count `prompt_tokens`, the newer ones `input_tokens`.
  tokens: { input: [['prompt_tokens', 'input_tokens']], output: [['completion_tokens', 'output_tokens']] },
  copyOf,
  refusal: (problem) => ({
    ...problem,
    error: { message: problem.detail, type: errorType(problem.status), param: null, code: problem.code },
  }),
};
