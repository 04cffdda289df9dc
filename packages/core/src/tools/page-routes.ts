// Tools for the page of an app through the shell, which has no capability of it: one request to the hub, as the app, and what it answers
// as plain data.
import type { ServerEventBus } from '@modelcontextprotocol/server';
import { pendingProposal, refuse, type ToolAnswer, type UsableTool, usableTool } from '@platform/contract';
import * as z from 'zod';
import type { SessionCaller } from '../accounts/face.ts';
import type { Turns } from '../background/turns.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { type FrontendCaller, missingGrant, pageOf } from '../installations/face.ts';
import { PLATFORM_VERSION } from '../version.ts';
import type { Hub } from './hub/hub-tool.ts';
import { serveHub } from './hub/serve-hub.ts';
import { plainText } from './served/app-text.ts';
import { toolCallerOf, useOf } from './tool-caller.ts';

const REVISION = '2026-07-28';
const INVALID_PARAMS = -32_602;
/** Bytes of what an app says of a call that it refuses. */
const LONGEST_ERROR = 500;

const answered = z.union([
  z.object({ result: z.looseObject({}) }),
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
]);
const listed = z.object({
  tools: z.array(
    usableTool
      .omit({ app: true, approval: true })
      .extend({
        _meta: z.object({
          'platform/app': usableTool.shape.app.optional(),
          'platform/approval': z.string().optional(),
        }),
      })
      .strip(),
  ),
  nextCursor: z.string().optional(),
});
const called = z.object({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
  _meta: z
    .object({ 'platform/refusal': z.object({ code: z.string(), retryAfter: z.number().optional() }).optional() })
    .default({}),
});
const proposed = z.object({ structuredContent: z.object({ proposal: pendingProposal }) });

interface PageCall {
  readonly caller: SessionCaller;
  readonly params: { readonly appId: string };
  readonly left: AbortSignal;
  readonly stillAllowed: () => Promise<SessionCaller>;
}

type Message =
  | { readonly method: 'tools/list'; readonly params: { readonly cursor?: string } }
  | { readonly method: 'tools/call'; readonly params: { readonly name: string; readonly arguments: object } };

/** @param turns of all tool calls */
export function pageRoutes(hub: Hub, turns: Turns): HandlersOf<'apps.mcp.list' | 'apps.mcp.call'> {
  /** @param meta what the platform itself reads of a request */
  async function ask(call: PageCall, page: FrontendCaller, { method, params }: Message, meta = {}): Promise<unknown> {
    const allowed = async () => toolCallerOf(await mayUseTools(hub, await call.stillAllowed(), call.params.appId));
    const end = await turns.take(page.installationId);
    const over = new AbortController();
    const off = hub.callers.onEnd(page, () => over.abort());
    try {
      const answer = await serveHub(hub, SILENT, {
        // It may have ended before anybody listened for that.
        ...{ caller: await allowed(), stillAllowed: allowed, chain: undefined },
        message: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...ENVELOPE, ...meta } } },
        request: new Request(new URL('/v1/services/mcp', hub.config.origin), {
          method: 'POST',
          headers: {
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            'mcp-protocol-version': REVISION,
            'mcp-method': method,
            ...('name' in params ? { 'mcp-name': params.name } : {}),
          },
          signal: AbortSignal.any([call.left, over.signal, hub.stopping]),
        }),
      });
      return resultOf(await answer.json());
    } finally {
      off();
      end();
    }
  }

  return {
    async 'apps.mcp.list'(call) {
      const page = await mayUseTools(hub, call.caller, call.params.appId);
      const items: UsableTool[] = [];
      for (let cursor: string | undefined | null; cursor !== null; ) {
        const params = cursor === undefined ? {} : { cursor };
        const { tools, nextCursor = null } = listed.parse(await ask(call, page, { method: 'tools/list', params }));
        items.push(...tools.map(usable));
        cursor = nextCursor;
      }
      const list = { name: `page-tools:${page.installationId}`, items, idOf: ({ name }: UsableTool) => name };
      return { status: 200, body: listPage(hub, call.query, list) };
    },
    async 'apps.mcp.call'(call) {
      const { name, arguments: given, propose } = call.body;
      const page = await mayUseTools(hub, call.caller, call.params.appId);
      const params = { name, arguments: given };
      const meta = propose ? { 'platform/propose': true } : {};
      const result = await ask(call, page, { method: 'tools/call', params }, meta);
      // What a tool says of itself is no proposal: only a call that had to be one can be.
      const waits = propose || useOf(toolCallerOf(page), name) === 'propose';
      const proposal = waits ? proposed.safeParse(result).data : undefined;
      const body =
        proposal === undefined ? answerOf(result) : ({ kind: 'proposal', ...proposal.structuredContent } as const);
      return { status: 200, body };
    },
  };
}

/** One request is one answer: nothing is announced meanwhile. */
const SILENT: ServerEventBus = { publish: () => undefined, subscribe: () => () => undefined };

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'platform-shell', version: PLATFORM_VERSION },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** @throws RefusalError `not_found`, `runtime_paused`, or `grant_missing` for an app that may use no tools at all */
async function mayUseTools(hub: Hub, session: SessionCaller, appId: string): Promise<FrontendCaller> {
  const page = await pageOf(hub, session, appId);
  const held = (['mcp.tools.call', 'mcp.tools.propose'] as const).some((id) => resourcesOf(page.grants, id).length > 0);
  if (held) return page;
  throw await missingGrant(hub.pool, page, { id: 'mcp.tools.call', resource: null });
}

/** @throws RefusalError `invalid_request` for what no tool takes, `upstream_failed` for what an app refuses in words of its own */
function resultOf(answer: unknown): unknown {
  const read = answered.parse(answer);
  if ('result' in read) return read.result;
  const { code, message } = read.error;
  throw refuse(code === INVALID_PARAMS ? 'invalid_request' : 'upstream_failed', plainText(message, LONGEST_ERROR));
}

function usable({ _meta, ...tool }: z.output<typeof listed>['tools'][number]): UsableTool {
  const approval = _meta['platform/approval'] === 'required' ? 'required' : 'none';
  return { ...tool, app: _meta['platform/app'] ?? null, approval };
}

function answerOf(result: unknown): ToolAnswer {
  const { _meta, ...answer } = called.parse(result);
  return { kind: 'result', ...answer, refusal: _meta['platform/refusal'] ?? null };
}
