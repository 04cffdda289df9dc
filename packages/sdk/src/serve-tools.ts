// Serving tools to other apps with the official server package: a server for each request, which knows who calls.
import type { ServiceAccess } from './call-options.ts';
import { connectMcp, type McpClientPackage, type WorkloadMcpOptions } from './mcp-client.ts';
import { PlatformError } from './platform-error.ts';

/** What is used of `@modelcontextprotocol/server`. */
export interface McpServerPackage {
  readonly McpServer: new (about: never, options?: never) => object;
  readonly createMcpHandler: (factory: never) => { fetch(request: Request): Promise<Response> };
}

/** What the server says of itself, and what its model should know to use it. */
export interface ToolServerAbout {
  readonly name: string;
  readonly version: string;
  /** For the model that uses the tools. */
  readonly instructions?: string;
  /** Default: `workload.mcp.path` of the manifest. */
  readonly path?: string;
}

/** The request in which tools are listed or one of them is called. */
export interface ToolRequest {
  /** The app that calls, or `connection` for a client that the person connected; `null` where no tool is called. */
  readonly caller: string | null;
  /** Names the calls that led here, for calls that this one makes; nobody but the platform reads it. */
  readonly chain: string | undefined;
  /** A client for calls in the middle of this one, as {@link PlatformServicesClient.mcp}: the chain goes with them. */
  mcp<Official extends McpClientPackage>(
    official: Official | Promise<Official>,
    options?: WorkloadMcpOptions<Official>,
  ): Promise<InstanceType<Official['Client']>>;
}

/** A request as `node:http` gives it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Where its answer goes. */
export interface NodeResponse {
  /** Begins the answer. */
  writeHead(status: number, headers: Record<string, string>): unknown;
  /** Sends a piece of the body. @returns false while no more should follow */
  write(piece: Uint8Array): boolean;
  /** Ends the answer. */
  end(): unknown;
  /** Calls back when more may follow, or nobody waits any more. */
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

/** Answers what the platform asks of a backend that serves tools. */
export interface ToolServer {
  /** Where it serves. */
  readonly path: string;
  /** For servers of `node:http`. @returns false for a request to another path, which is not touched */
  handle(request: NodeRequest, response: NodeResponse): Promise<boolean>;
  /** For all others: answers a request to `path`. */
  fetch(request: Request): Promise<Response>;
}

/** Tools that this backend has for other apps and for clients of the person. */
export interface ToolsService {
  /**
   * Serves tools with the official package `@modelcontextprotocol/server`, in every revision that it knows. Needs `workload.mcp.path`
   * in the manifest, and the grant `mcp.tools.serve` on `self`.
   *
   * @param register adds the tools to the server of one request: `server.registerTool(…)`
   * @throws {PlatformError} `invalid_request` without the package, or without a path
   */
  serve<Official extends McpServerPackage>(
    official: Official,
    about: ToolServerAbout,
    register: (server: InstanceType<Official['McpServer']>, request: ToolRequest) => void | Promise<void>,
  ): ToolServer;
}

/** Above what the platform sends: the arguments of a call are 256 KiB at most. */
const LONGEST_BODY = 4 * 1024 * 1024;

interface Package {
  readonly McpServer: new (about: object, options: object) => object;
  createMcpHandler(factory: (context: { readonly requestInfo?: Request }) => Promise<object>): {
    fetch(request: Request): Promise<Response>;
  };
}

/** @param declared `workload.mcp.path` of the manifest, where there is one */
export function toolsService(access: ServiceAccess, declared: string | undefined): ToolsService {
  return {
    serve(official, { path = declared, instructions, name, version }, register) {
      if (typeof official?.McpServer !== 'function' || typeof official.createMcpHandler !== 'function')
        throw invalid(
          'The package @modelcontextprotocol/server is missing: install it, and pass all it exports to serve().',
        );
      if (path === undefined) throw invalid('The manifest declares no path for tools: `workload.mcp.path`.');
      const { McpServer, createMcpHandler } = official as unknown as Package;
      const { fetch } = createMcpHandler(async ({ requestInfo }) => {
        const server = new McpServer({ name, version }, instructions === undefined ? {} : { instructions });
        try {
          await register(server as Parameters<typeof register>[0], requestOf(access, requestInfo?.headers));
        } catch (error) {
          console.error('The tools could not be registered:', error);
          throw error;
        }
        return server;
      });
      return {
        path,
        fetch: (request) => fetch(request),
        handle: (request, response) => handle(path, fetch, request, response),
      };
    },
  };
}

function requestOf(access: ServiceAccess, headers: Headers | undefined): ToolRequest {
  const chain = headers?.get('platform-tool-chain') ?? undefined;
  return {
    caller: headers?.get('platform-caller') ?? null,
    chain,
    mcp: (official, options) => connectMcp(access, official, { chain, ...options }),
  };
}

async function handle(
  path: string,
  fetch: ToolServer['fetch'],
  request: NodeRequest,
  response: NodeResponse,
): Promise<boolean> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname !== path) return false;
  const left = new AbortController();
  response.once('close', () => left.abort());
  const answer = await respond(fetch, { request, url, signal: left.signal });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  try {
    await send(answer.body, response, left.signal);
  } catch (error) {
    if (!left.signal.aborted) console.error('An answer about tools broke off:', error);
  }
  response.end();
  return true;
}

interface Incoming {
  readonly request: NodeRequest;
  readonly url: URL;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

async function respond(fetch: ToolServer['fetch'], { request, url, signal }: Incoming): Promise<Response> {
  try {
    const body = await bodyOf(request);
    if (body === null) return new Response(null, { status: 413 });
    const headers = Object.entries(request.headers).filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    );
    const { method = 'GET' } = request;
    return await fetch(new Request(url, { method, headers, signal, ...(method === 'POST' ? { body } : {}) }));
  } catch (error) {
    if (!signal.aborted) console.error('A request for tools failed:', error);
    return new Response(null, { status: 500 });
  }
}

/** @returns `null` for one that is too large */
async function bodyOf(request: NodeRequest): Promise<Blob | null> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > LONGEST_BODY) return null;
    pieces.push(new Uint8Array(piece));
  }
  return new Blob(pieces);
}

async function send(body: Response['body'], response: NodeResponse, left: AbortSignal): Promise<void> {
  const reader = body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return;
    if (left.aborted) return reader?.cancel();
    if (response.write(value)) continue;
    await new Promise<void>((resolve) => {
      response.once('drain', resolve);
      response.once('close', resolve);
    });
  }
}

function invalid(detail: string): PlatformError {
  return new PlatformError({ code: 'invalid_request', detail });
}
