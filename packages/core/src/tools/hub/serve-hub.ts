// The hub as a server of the Model Context Protocol (revisions 2026-07-28, 2025-11-25 and 2025-06-18): a server for each request, which
// knows its caller. Nothing is kept between requests.
import {
  createMcpHandler,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { RefusalError } from '@platform/contract';
import { PLATFORM_VERSION } from '../../version.ts';
import { askPerson } from '../proposals/ask-person.ts';
import type { Serving } from '../served/served-tools.ts';
import { withoutHeaders } from '../served/usable-schema.ts';
import { contentCapabilities, mayUseContent, serveContent } from './app-content.ts';
import type { RequestOf } from './ask-app.ts';
import { callTool, refused, type ToolCallParts } from './call-tool.ts';
import { clientSideOf } from './client-side.ts';
import { findTool, type Hub, type HubTool, toolsFor } from './hub-tool.ts';
import { pageOf } from './pages.ts';

export interface HubRequest extends Pick<ToolCallParts, 'caller' | 'stillAllowed' | 'chain'> {
  /** Only what this app has, under its own names. Default: the tools of all. */
  readonly app?: Serving;
  /** The headers of the request, and what ends it. */
  readonly request: Request;
  /** The JSON-RPC message. */
  readonly message: unknown;
}

/** Of a request to call a tool: to propose it, though the caller may call it. */
const PROPOSE = 'platform/propose';
/** How long a client may keep a list; a subscription says when it changes. */
const FRESH = { ttlMs: 1_000, cacheScope: 'private' } as const;
const LISTS = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'] as const;

export async function serveHub(
  hub: Hub,
  bus: ServerEventBus,
  { request, message, ...given }: HubRequest,
): Promise<Response> {
  const handler = createMcpHandler(() => serverFor(hub, { ...given, over: request.signal }), {
    bus,
    maxSubscriptions: 1,
    onerror: (error) => hub.log.debug({ err: error }, 'a request to the hub of tools was not served'),
  });
  return handler.fetch(request, { parsedBody: message });
}

type ForServer = Omit<HubRequest, 'request' | 'message'> & { readonly over: AbortSignal };

function serverFor(hub: Hub, { caller, stillAllowed, chain, app, over }: ForServer): Server {
  const appId = app?.app_id;
  const content = app !== undefined && mayUseContent(caller, app) ? app : undefined;
  const requestOf: RequestOf = (context) => ({
    ...{ caller, stillAllowed, chain, client: clientSideOf(context) },
    signal: AbortSignal.any([context.mcpReq.signal, over]),
  });
  const server = new Server(
    {
      name: appId === undefined ? 'platform' : `platform-${appId}`,
      title: 'Tools of this platform',
      version: PLATFORM_VERSION,
    },
    {
      capabilities: {
        tools: { listChanged: true },
        ...(content === undefined ? {} : contentCapabilities(content)),
      },
      cacheHints: Object.fromEntries(LISTS.map((method) => [method, FRESH])),
      // Apps ask only what a client of this very request can answer.
      inputRequired: { legacyShim: false },
    },
  );
  server.setRequestHandler('tools/list', async ({ params }): Promise<ListToolsResult> => {
    const tools = await toolsFor(hub, caller, appId);
    const { page, more } = pageOf(tools.map(shown), ({ name }) => name, params?.cursor);
    return { tools: page, ...more };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = await findTool(hub, caller, { name: params.name, appId });
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 200)}`);
    const call = { ...requestOf(context), tool, arguments: params.arguments ?? {} };
    const { mcpReq } = context;
    if (tool.use === 'call' && mcpReq._meta?.[PROPOSE] !== true) return callTool(hub, call);
    const round = {
      showsAddresses: call.client.capabilities.elicitation?.url !== undefined,
      state: mcpReq.requestState<string>(),
      answers: mcpReq.inputResponses,
    };
    return askPerson(hub, call, round).catch((error: unknown) => {
      if (error instanceof RefusalError) return refused(error);
      throw error;
    });
  });
  if (content !== undefined) serveContent(server, hub, content, requestOf);
  return server;
}

function shown(tool: HubTool): ListToolsResult['tools'][number] {
  const { shown: name, use, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description: describe(tool, description) }),
    ...{ inputSchema: tool.of === 'app' ? withoutHeaders(inputSchema) : inputSchema, annotations },
    // A client would hold the proposal to it.
    ...(outputSchema === undefined || use === 'propose' ? {} : { outputSchema }),
    _meta: {
      ...(tool.of === 'app'
        ? { 'platform/app': { id: tool.serving.app_id, name: tool.serving.name } }
        : { 'platform/built-in': true }),
      ...(use === 'propose' ? { 'platform/approval': 'required' } : {}),
    },
  } as ListToolsResult['tools'][number];
}

/** Among those of others, said as the app's words: a model must not take them for the platform's. */
function describe(tool: HubTool, text: string): string {
  return tool.of === 'platform' || tool.shown !== tool.name ? text : `[${tool.serving.app_id} says:] ${text}`;
}
