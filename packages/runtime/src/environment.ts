// The environment of a workload: what the platform gives it, and what its manifest may add.
import { type Assignment, objectStorageView, type PublicPortBinding } from '@platform/contract';
import { agentVariables } from './agents.ts';
import type { GatewayUrls, InsidePlaces } from './drivers/driver.ts';

/** Names that would change how the sandbox or Node itself starts, or that only the platform may set. */
const RESERVED =
  /^(PLATFORM_|PROVIDER_|LD_|DYLD_|NODE_CHANNEL_|NODE_REPL_)|^(NODE_OPTIONS|NODE_V8_COVERAGE|NODE_EXTRA_CA_CERTS|GLIBC_TUNABLES|PORT)$/;

export interface EnvironmentInput {
  readonly assignment: Assignment;
  /** `pgw_…` */
  readonly gatewayCredential: string;
  /** `pdc_…` */
  readonly appCapability: string;
  readonly inside: InsidePlaces;
  /** Its public UDP ports. */
  readonly publicPorts?: readonly PublicPortBinding[];
}

/** Environment variables of the manifest that the workload does not get; they are listed in its log. */
export function reservedNames({ workload }: Assignment): string[] {
  return Object.keys(workload.environment ?? {}).filter((name) => RESERVED.test(name));
}

/** The variables that lead to its Gateway. */
export function gatewayUrls({ intelligence = [] }: Assignment): GatewayUrls {
  const providers = intelligence.flatMap(({ provider, environment }) =>
    environment === null ? [] : [[environment.baseUrl, `/v1/services/intelligence/${provider}`]],
  );
  return { ...Object.fromEntries(providers), PLATFORM_API_URL: '' };
}

/** The variables that lead to its object storage; empty without any. */
export function storageUrls({ objectStorage }: Pick<Assignment, 'objectStorage'>): GatewayUrls {
  return objectStorage ? { PLATFORM_S3_ENDPOINT: '' } : {};
}

/** Everything except `gatewayUrls`, which are known only when the sandbox stands. */
export function workloadEnvironment({
  assignment,
  gatewayCredential,
  appCapability,
  inside,
  publicPorts = [],
}: EnvironmentInput): Readonly<Record<string, string>> {
  const authored = Object.entries(assignment.workload.environment ?? {});
  return {
    PATH: '/opt/platform/bin:/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    HOME: inside.volume ?? inside.temporary,
    ...Object.fromEntries(authored.filter(([name]) => !RESERVED.test(name))),
    ...providerKeys(assignment, gatewayCredential),
    PORT: String(inside.port),
    PLATFORM_GATEWAY_TOKEN: gatewayCredential,
    PLATFORM_APP_CAPABILITY: appCapability,
    PLATFORM_APP_ORIGIN: assignment.appOrigin,
    ...agentVariables(assignment),
    ...(inside.volume === undefined ? {} : { PLATFORM_VOLUME_DIR: inside.volume }),
    ...(assignment.workload.mcp === undefined ? {} : { PLATFORM_MCP_PATH: assignment.workload.mcp.path }),
    ...(assignment.objectStorage ? storageVariables(gatewayCredential) : {}),
    ...portVariables(publicPorts),
  };
}

/**
 * What stock clients of AI providers present is the Gateway credential, which reaches the provider as the real key. The
 * operator's names win over the manifest's.
 */
function providerKeys({ intelligence = [] }: Assignment, gatewayCredential: string): Record<string, string> {
  return Object.fromEntries(
    intelligence.flatMap(({ environment }) => (environment === null ? [] : [[environment.apiKey, gatewayCredential]])),
  );
}

/** What stock clients of S3 need. The pair signs nothing that is verified: the token is what counts (contract 4c). */
function storageVariables(gatewayCredential: string): Record<string, string> {
  return {
    PLATFORM_S3_REGION: objectStorageView.region,
    PLATFORM_S3_BUCKET: objectStorageView.bucket,
    PLATFORM_S3_ACCESS_KEY_ID: 'platform',
    PLATFORM_S3_SECRET_ACCESS_KEY: 'not-a-secret',
    PLATFORM_S3_SESSION_TOKEN: gatewayCredential,
    // By default clients send checksums after the body, under a signature of its own.
    AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
    AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
  };
}

/** How it learns the ports that the platform chose (specification 2.8). */
function portVariables(ports: readonly PublicPortBinding[]): Record<string, string> {
  const [first] = ports;
  if (first === undefined) return {};
  const shown = ports.map(({ name, protocol, containerPort, host, hostPort }) => ({
    name,
    protocol,
    containerPort,
    host,
    hostPort,
  }));
  return { PLATFORM_PUBLIC_HOST: first.host, PLATFORM_PUBLIC_PORTS_JSON: JSON.stringify(shown) };
}
