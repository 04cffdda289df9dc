// Doubles of the model servers that people run on their own machine: real HTTP servers that answer as Ollama, llama.cpp, vLLM and
// LM Studio do, without a model, and neighbours that are none of them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ModelServerKind = 'ollama' | 'llama.cpp' | 'vllm' | 'lm-studio';

export interface ModelServerDouble {
  readonly port: number;
  readonly origin: string;
  /** Method and path of everything that was asked. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const OWNERS: Readonly<Record<Exclude<ModelServerKind, 'ollama'>, string>> = {
  'llama.cpp': 'llamacpp',
  vllm: 'vllm',
  'lm-studio': 'organization_owner',
};

/** Its list of models, and an answer of three words to every chat. */
export function startModelServer(kind: ModelServerKind, models: readonly string[]): Promise<ModelServerDouble> {
  return startNeighbour((request, response) => {
    if (request.method === 'POST' && request.url === '/v1/chat/completions') return json(response, completion(models));
    if (kind === 'ollama' && request.url === '/api/tags') return json(response, tags(models));
    if (request.url === '/v1/models')
      return json(response, listOf(models, kind === 'ollama' ? 'library' : OWNERS[kind]));
    response.writeHead(404).end('404 page not found');
  });
}

/** Any server of the machine. */
export async function startNeighbour(answer: Answer): Promise<ModelServerDouble> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** As Ollama 0.9 answers. */
function tags(models: readonly string[]) {
  const details = { parent_model: '', format: 'gguf', family: 'llama', families: ['llama'], parameter_size: '3.2B' };
  return {
    models: models.map((name) => ({
      name,
      model: name,
      modified_at: '2026-11-01T10:00:00.000000000+01:00',
      size: 2_019_393_189,
      digest: 'a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72',
      details,
    })),
  };
}

/** The list of OpenAI’s API, with what llama.cpp adds. */
export function listOf(models: readonly string[], owner: string) {
  return {
    ...(owner === 'llamacpp' ? { models: models.map((name) => ({ name, model: name, type: 'model' })) } : {}),
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 1_764_000_000, owned_by: owner, meta: null })),
  };
}

function completion([model = 'none']: readonly string[]) {
  const message = { role: 'assistant', content: 'from this machine' };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_764_000_000,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  };
}
