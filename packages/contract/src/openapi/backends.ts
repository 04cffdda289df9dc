// How clients reach the backend of an app: with a capability at its node, and without one from the internet, as far as its
// manifest and its grants say.
import type { Json } from './json.ts';
import { inPath, type Passing, passing, restOfPath } from './passing.ts';
import { SERVERS } from './places.ts';
import type { RefusalResponses } from './refusals.ts';

const ENDPOINT = inPath('endpointId', 'As the endpoint ticket of a launch says', '^[A-Za-z0-9_-]{1,128}$');

const endpoint: Passing = {
  operationId: 'backend.{method}',
  summary: 'A request to the backend of an app; a WebSocket handshake where it has `Upgrade`',
  servers: [SERVERS.node],
  parameters: [ENDPOINT, restOfPath('at the backend')],
  security: [{ client: [] }],
  from: 'the backend',
  refuses: [
    ...(['unauthenticated', 'origin_not_allowed', 'not_found', 'concurrency_limited', 'runtime_paused'] as const),
    ...(['workload_unavailable', 'upstream_failed', 'upstream_timeout'] as const),
  ],
};

const publicRoute: Passing = {
  operationId: 'public.{method}',
  summary: 'A request from the internet to a route that the app declares and its owner allows',
  servers: [SERVERS.ingress],
  parameters: [restOfPath('at the backend')],
  security: [],
  from: 'the backend',
  refuses: [
    ...(['not_found', 'payload_too_large', 'concurrency_limited'] as const),
    ...(['workload_unavailable', 'upstream_failed', 'upstream_timeout'] as const),
  ],
};

/** By path. */
export function backendPaths(refusals: RefusalResponses): Readonly<Record<string, Json>> {
  return {
    '/e/{endpointId}/': passing(
      { ...endpoint, operationId: 'backend.{method}.root', parameters: [ENDPOINT] },
      refusals,
    ),
    '/e/{endpointId}/{path}': passing(endpoint, refusals),
    '/': passing({ ...publicRoute, operationId: 'public.{method}.root', parameters: [] }, refusals),
    '/{path}': passing(publicRoute, refusals),
  };
}
