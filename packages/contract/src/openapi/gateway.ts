// What a Gateway answers its workload itself, beside the routes of core that it passes on: AI providers and outbound calls.
import { providerId } from '../domains/intelligence.ts';
import { slotName } from '../domains/packages.ts';
import { limits } from '../domains.ts';
import { sizeText } from '../sizes.ts';
import { type Json, jsonSchema } from './json.ts';
import { inPath, METHODS, type Method, type Passing, passing, restOfPath } from './passing.ts';
import { SERVERS } from './places.ts';
import type { RefusalResponses } from './refusals.ts';

const pattern = (schema: Parameters<typeof jsonSchema>[0]): string => String(jsonSchema(schema, 'input').pattern);

const PROVIDER = inPath('provider', 'Id of a provider in the operator’s file', pattern(providerId));
const SLOT = inPath('slot', 'A secret slot of the manifest', pattern(slotName));

const intelligence: Passing = {
  operationId: 'intelligence.{method}',
  summary: 'A call to an AI provider, under a key that the workload never sees (grant `intelligence.use`)',
  servers: [SERVERS.gateway],
  parameters: [PROVIDER, restOfPath('below the base URL of the provider, such as `chat/completions`')],
  security: [{ installation: [] }, { providerKey: [] }],
  from: 'the provider',
  refuses: [
    ...(['unauthenticated', 'grant_missing', 'not_authorized', 'placement_not_allowed', 'not_found'] as const),
    ...(['payload_too_large', 'unsupported_media_type', 'budget_exhausted', 'concurrency_limited'] as const),
    ...(['runtime_paused', 'workload_unavailable', 'upstream_failed', 'upstream_timeout'] as const),
    'upstream_redirect_refused',
  ],
  body: (method) => (method === 'POST' ? modelCall() : undefined),
};

function modelCall(): Json {
  const model = { type: 'string', description: 'One that a grant covers. Only calls to the whole provider have none.' };
  return {
    required: false,
    description: `At most ${sizeText(limits.intelligenceBody.value)}; the rest of it is the provider’s.`,
    content: {
      'application/json': { schema: { type: 'object', properties: { model } } },
      'multipart/form-data': { schema: { type: 'object', properties: { model } } },
    },
  };
}

const outbound: Passing = {
  operationId: 'outbound.{method}',
  summary: 'A request to the origin of a secret slot, with its secret (grants `secrets.use` and `network.connect`)',
  servers: [SERVERS.gateway],
  parameters: [SLOT, restOfPath('below the path prefix of the slot')],
  security: [{ installation: [] }],
  from: 'the outside service',
  refuses: [
    ...(['unauthenticated', 'not_authorized', 'not_found', 'concurrency_limited', 'runtime_paused'] as const),
    ...(['workload_unavailable', 'upstream_failed', 'upstream_timeout', 'upstream_redirect_refused'] as const),
  ],
};

/** By path. */
export function gatewayPaths(refusals: RefusalResponses): Readonly<Record<string, Json>> {
  const onlyGet: readonly Method[] = ['GET'];
  const models = {
    ...intelligence,
    operationId: 'intelligence.models',
    summary: 'The models of a provider that the grants cover',
    parameters: [PROVIDER],
  };
  const prefix = { ...outbound, operationId: 'outbound.{method}.prefix', parameters: [SLOT] };
  return {
    '/v1/services/intelligence/{provider}/models': passing(models, refusals, onlyGet),
    '/v1/services/intelligence/{provider}/{path}': passing(intelligence, refusals, METHODS),
    '/v1/services/outbound/{slot}/': passing(prefix, refusals),
    '/v1/services/outbound/{slot}/{path}': passing(outbound, refusals),
  };
}
