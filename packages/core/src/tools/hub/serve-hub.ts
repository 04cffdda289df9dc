// The hub as a server of the Model Context Protocol (revisions 2026-07-28, 2025-11-25 and 2025-06-18): a server for each request, which
// knows its caller. Nothing is kept between requests.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  type InputRequiredResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { RefusalError } from '@platform/contract';
import { PLATFORM_VERSION } from '../../version.ts';
import { askPerson } from '../proposals/ask-person.ts';
import { callTool, refused, type ToolCallParts } from './call-tool.ts';
import { findTool, type Hub, type HubTool, toolsFor } from './hub-tool.ts';

export interface HubRequest extends Pick<ToolCallParts, 'caller' | 'stillAllowed' | 'chain'> {
  /** Only the tools of this app, under their own names. Default: all. */
  readonly appId?: string;
  /** The headers of the request, and what ends it. */
  readonly request: Request;
  /** The JSON-RPC message. */
  readonly message: unknown;
}

/** Of one page of a list. */
const PAGE_TOOLS = 200;
const PAGE_BYTES = 1_024 * 1_024;
/** Of a request to call a tool: to propose it, though the caller may call it. */
const PROPOSE = 'platform/propose';
/** How long a client may keep a list; a subscription says when it changes. */
const FRESH_MILLISECONDS = 1_000;

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

function serverFor(hub: Hub, { caller, stillAllowed, chain, appId, over }: ForServer): Server {
  const server = new Server(
    {
      name: appId === undefined ? 'platform' : `platform-${appId}`,
      title: 'Tools of this platform',
      version: PLATFORM_VERSION,
    },
    {
      capabilities: { tools: { listChanged: true } },
      cacheHints: { 'tools/list': { ttlMs: FRESH_MILLISECONDS, cacheScope: 'private' } },
    },
  );
  server.setRequestHandler('tools/list', async ({ params }): Promise<ListToolsResult> => {
    const tools = await toolsFor(hub, caller, appId);
    const { page, next } = pageOf(tools, params?.cursor);
    return { tools: page.map(shown), ...(next === null ? {} : { nextCursor: next }) };
  });
  server.setRequestHandler(
    'tools/call',
    async ({ params }, { mcpReq }): Promise<CallToolResult | InputRequiredResult> => {
      const tool = await findTool(hub, caller, { name: params.name, appId });
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 200)}`);
      const { _meta, notify: announce } = mcpReq;
      const progressToken = _meta?.progressToken;
      const call: ToolCallParts = {
        ...{ caller, stillAllowed, tool, arguments: params.arguments ?? {}, chain },
        signal: AbortSignal.any([mcpReq.signal, over]),
        ...(progressToken === undefined
          ? {}
          : {
              progress: (progress) =>
                void announce({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(
                  () => undefined,
                ),
            }),
      };
      if (tool.use === 'call' && _meta?.[PROPOSE] !== true) return callTool(hub, call);
      const envelope = mcpReq.envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
      const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY];
      const round = {
        showsAddresses: capabilities?.elicitation?.url !== undefined,
        state: mcpReq.requestState<string>(),
        answers: mcpReq.inputResponses,
      };
      return askPerson(hub, call, round).catch((error: unknown) => {
        if (error instanceof RefusalError) return refused(error);
        throw error;
      });
    },
  );
  return server;
}

/** @param cursor the name of the last tool of the page before */
function pageOf(
  tools: readonly HubTool[],
  cursor: string | undefined,
): { readonly page: HubTool[]; readonly next: string | null } {
  const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString('utf8');
  const page: HubTool[] = [];
  let bytes = 0;
  for (const tool of tools) {
    if (tool.shown <= after) continue;
    bytes += JSON.stringify(shown(tool)).length;
    if (page.length >= PAGE_TOOLS || (page.length > 0 && bytes > PAGE_BYTES))
      return { page, next: Buffer.from(page.at(-1)?.shown ?? '').toString('base64url') };
    page.push(tool);
  }
  return { page, next: null };
}

function shown(tool: HubTool): ListToolsResult['tools'][number] {
  const { shown: name, use, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description: describe(tool, description) }),
    ...{ inputSchema, annotations },
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
