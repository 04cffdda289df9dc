// Model servers of this machine: who answers, on the loopback ports where such servers listen by themselves, as they do.
// Nothing is looked at unless the operator asks.
import { limits, type ModelServer, modelId } from '@platform/contract';
import * as z from 'zod';

interface Place {
  readonly port: number;
  readonly path: '/api/tags' | '/v1/models';
}

/** Where Ollama, llama.cpp, vLLM and LM Studio listen by themselves. */
export const MODEL_PLACES: readonly Place[] = [
  { port: 11_434, path: '/api/tags' },
  { port: 8_080, path: '/v1/models' },
  { port: 8_000, path: '/v1/models' },
  { port: 1_234, path: '/v1/models' },
];

const ollamaAnswer = z.object({ models: z.array(z.object({ name: z.string() })) });
const openaiAnswer = z.object({
  object: z.literal('list'),
  data: z.array(z.object({ id: z.string(), object: z.literal('model'), owned_by: z.string().optional() })),
});

/** By what it says of who owns its models. */
const KINDS: Readonly<Record<string, ModelServer['kind']>> = {
  llamacpp: 'llama.cpp',
  vllm: 'vllm',
  organization_owner: 'lm-studio',
  'organization-owner': 'lm-studio',
  library: 'ollama',
};

export type FoundModels = Omit<ModelServer, 'provider'>;

/** @param own ports on which the platform itself listens: nobody asks there */
export async function findModelServers(
  places: readonly Place[],
  own: readonly string[] = [],
): Promise<readonly FoundModels[]> {
  const asked = places.filter(({ port }) => !own.includes(String(port))).map(modelsAt);
  return (await Promise.all(asked)).filter((found) => found !== null);
}

/** `null` for whoever is no model server, or answers too late or too much. */
async function modelsAt({ port, path }: Place): Promise<FoundModels | null> {
  const origin = `http://127.0.0.1:${port}`;
  try {
    const answer = await fetch(`${origin}${path}`, {
      signal: AbortSignal.timeout(limits.modelServerSeconds.value * 1_000),
      redirect: 'error',
      headers: { accept: 'application/json' },
    });
    if (answer.status !== 200 || answer.body === null) {
      await answer.body?.cancel();
      return null;
    }
    const said = read(path, JSON.parse(await textOf(answer.body)));
    return said === null ? null : { baseUrl: `${origin}/v1`, ...said };
  } catch {
    return null;
  }
}

function read(path: Place['path'], json: unknown): Pick<FoundModels, 'kind' | 'models'> | null {
  if (path === '/api/tags') {
    const { data } = ollamaAnswer.safeParse(json);
    return data === undefined ? null : { kind: 'ollama', models: namesOf(data.models.map(({ name }) => name)) };
  }
  const { data } = openaiAnswer.safeParse(json);
  if (data === undefined) return null;
  const kind = KINDS[data.data[0]?.owned_by ?? ''] ?? 'other';
  return { kind, models: namesOf(data.data.map(({ id }) => id)) };
}

function namesOf(names: readonly string[]): string[] {
  const known = names.filter((name) => modelId.safeParse(name).success);
  return [...new Set(known)].slice(0, limits.intelligenceModels.value);
}

/** @throws Error beyond the limit */
async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limits.modelServerAnswer.value) throw new Error('the answer is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
