// Where the operations are served, and what their callers present: a server for each listener of the platform, and a scheme for
// each kind of credential.
import type { CallerKind, RouteSpec } from '../domain.ts';
import { SESSION_HEADER } from '../session-header.ts';
import type { Json } from './json.ts';

function server(name: string, example: string, description: string): Json {
  return { url: `{${name}}`, description, variables: { [name]: { default: example, description } } };
}

export const SERVERS = {
  core: server(
    'platform',
    'http://shell.platform.localhost:8787',
    'PLATFORM_OS_ORIGIN: the shell, frontends of apps, command lines, nodes and Ingresses',
  ),
  connect: server(
    'connect',
    'http://localhost:8787',
    'Where connected clients are: PLATFORM_OS_ORIGIN with https, and localhost at its port without',
  ),
  gateway: server('gateway', 'http://127.0.0.1:7070', 'PLATFORM_API_URL of a workload: its Gateway'),
  objectStorage: server('objectStorage', 'http://127.0.0.2:7071', 'PLATFORM_S3_ENDPOINT of a workload'),
  node: server(
    'node',
    'http://node.platform.localhost:8788',
    'The origin in the endpoint ticket of a launch: the node on which the backend runs',
  ),
  ingress: server(
    'app',
    'http://app.public.platform.localhost:8791',
    'The public address of an app, as `apps.public` gives it',
  ),
} as const satisfies Readonly<Record<string, Json>>;

export const SECURITY: Readonly<Record<string, Json>> = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'platform_session',
    description: `A person signed in to the shell; on https \`__Host-platform_session\`. What changes something also needs \`Origin\`: the origin of the shell. Several cookies of the name are refused, unless \`${SESSION_HEADER}\` says which session counts.`,
  },
  frontend: bearer('The page of an app: its frontend capability `pfc_…`, with `Origin`: the origin of the app.'),
  installation: bearer('A workload: PLATFORM_GATEWAY_TOKEN, `pgw_…`, at its Gateway alone.'),
  gateway: bearer('A Gateway: the core service credential `pcs_…` of its workload’s start. No workload has it.'),
  node: bearer('The Runtime of a node: `pnd_…`.'),
  ingress: bearer('An Ingress: `pin_…`.'),
  author: bearer('The command line of an author: `pat_…`.'),
  connection: bearer('A client outside the platform: the access token `pct_…` that its person allowed it.'),
  client: bearer('A client of a backend: the data-plane capability `pdc_…` of its launch.'),
  providerKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'PLATFORM_GATEWAY_TOKEN as clients of Anthropic send their key.',
  },
  storageToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-amz-security-token',
    description: 'PLATFORM_S3_SESSION_TOKEN. The signature beside it is not verified.',
  },
};

function bearer(description: string): Json {
  return { type: 'http', scheme: 'bearer', description };
}

const isForGateways = ({ path }: RouteSpec): boolean => path.startsWith('/v1/gateway/');

/** What the callers of a route present: a Gateway speaks for its installation. */
export function securityOf(spec: RouteSpec): Json[] {
  const known = (kind: CallerKind): kind is Exclude<CallerKind, 'anonymous'> => kind !== 'anonymous';
  return spec.callers.filter(known).map((kind) => ({ [isForGateways(spec) ? 'gateway' : kind]: [] }));
}

/** Where a route is served; `undefined` for core alone, as the document says for everything. */
export function serversOf(spec: RouteSpec): Json[] | undefined {
  if (spec.callers.includes('connection')) return [SERVERS.connect];
  if (!spec.callers.includes('installation') || isForGateways(spec)) return undefined;
  return spec.callers.length > 1 ? [SERVERS.core, SERVERS.gateway] : [SERVERS.gateway];
}
