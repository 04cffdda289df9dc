// The official client of the Model Context Protocol, connected to the hub of tools with the credential of this app. The caller gives the
// package: bundlers then find its import in the app, and whoever uses no tools needs none.
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { connecting } from './localhost.ts';
import { errorFromResponse, PlatformError } from './platform-error.ts';

/** What is used of `@modelcontextprotocol/client`. */
export interface McpClientPackage {
  readonly Client: new (about: never, options: never) => McpClientLike;
  readonly StreamableHTTPClientTransport: new (url: never, options: never) => object;
}

/** What is used of its client. */
export interface McpClientLike {
  /** Begins to work over a transport. */
  connect(transport: never, options?: never): Promise<void>;
}

/** Of a connection to the hub of tools; `signal` and `timeoutMilliseconds` are for connecting alone. */
export interface McpOptions<Official extends McpClientPackage = McpClientPackage> extends CallOptions {
  /** Only the tools of this app, under their own names. Default: all that this app may use, as `<app id>.<tool>`. */
  readonly app?: string;
  /** Options of the client. Default: the newest revision that both sides know. */
  readonly client?: NonNullable<ConstructorParameters<Official['Client']>[1]>;
}

/** Of a connection that a workload opens. */
export interface WorkloadMcpOptions<Official extends McpClientPackage = McpClientPackage> extends McpOptions<Official> {
  /** The chain of the tool call in the middle of which this one calls: the header field `Platform-Tool-Chain`. */
  readonly chain?: string | undefined;
}

/** The same, as it is called here. */
interface Made {
  connect(transport: object, options: object): Promise<void>;
}

/** @throws {PlatformError} `invalid_request` without the package, and what the platform refuses */
export async function connectMcp<Official extends McpClientPackage>(
  access: ServiceAccess,
  given: Official | Promise<Official>,
  { app, chain, client: options, signal, timeoutMilliseconds: timeout }: WorkloadMcpOptions<Official> = {},
): Promise<InstanceType<Official['Client']>> {
  const official = await Promise.resolve(given).catch(missing);
  if (typeof official?.Client !== 'function' || typeof official.StreamableHTTPClientTransport !== 'function') missing();
  const { Client, StreamableHTTPClientTransport } = official as unknown as {
    readonly Client: new (about: object, options: object) => Made;
    readonly StreamableHTTPClientTransport: new (url: URL, options: object) => object;
  };
  let refused: PlatformError | undefined;
  const transport = new StreamableHTTPClientTransport(
    new URL(`${access.api}/v1/services/mcp${app === undefined ? '' : `/${encodeURIComponent(app)}`}`),
    {
      requestInit: chain === undefined ? {} : { headers: { 'platform-tool-chain': chain } },
      fetch: (url: string | URL, init: RequestInit) =>
        fetchAs(access, String(url), init).catch((error) => {
          if (error instanceof PlatformError) refused = error;
          throw error;
        }),
    },
  );
  const client = new Client(
    { name: 'app', version: '1' },
    { versionNegotiation: { mode: 'auto' }, ...(options as object) },
  );
  try {
    await client.connect(transport, { ...(signal ? { signal } : {}), ...(timeout === undefined ? {} : { timeout }) });
  } catch (error) {
    // The client puts the refusal into words of its own.
    throw refused ?? error;
  }
  return client as unknown as InstanceType<Official['Client']>;
}

/** As `fetch`, with the present credential, and once more if that is refused and another one takes its place. */
async function fetchAs(access: ServiceAccess, url: string, init: RequestInit): Promise<Response> {
  const send = (): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${access.token}`);
    // A redirect could carry the credential elsewhere.
    return fetch(url, { ...connecting(url), ...init, headers, credentials: 'omit', redirect: 'manual' });
  };
  const { token } = access;
  let answer = await send();
  if (answer.status === 401 && (await access.renew?.(token))) {
    await answer.body?.cancel();
    answer = await send();
  }
  // That there is no stream to get is an answer of the protocol.
  if (answer.ok || answer.status === 405 || answer.headers.get('content-type') !== 'application/problem+json')
    return answer;
  throw await errorFromResponse(answer);
}

function missing(cause?: unknown): never {
  const detail = 'The package @modelcontextprotocol/client is missing: install it, and pass it to mcp().';
  throw new PlatformError({ code: 'invalid_request', detail, cause });
}
