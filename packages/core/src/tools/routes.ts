// Tools over HTTP: the hub for apps, the record for their owner.
import { type DomainRoute, limits, refuse, type ToolApp } from '@platform/contract';
import { Turns } from '../background/turns.ts';
import { serves } from '../connections/face.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { HandlersOf, RouteCall } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { sendWebAnswer } from '../http/web-answer.ts';
import type { Hub } from './hub/hub-tool.ts';
import { serveHub } from './hub/serve-hub.ts';
import { changesFor } from './hub/tool-changes.ts';
import { pageRoutes } from './page-routes.ts';
import { selectToolApps, type ToolAppRow } from './queries.ts';
import { listToolCalls } from './record.ts';
import { type HubCaller, toolCallerOf } from './tool-caller.ts';

export type ToolRoute = DomainRoute<'tools'>;
/** What all routes of the hub have of a call. */
type HubCall = Pick<RouteCall<'services.mcp'>, 'body' | 'left' | 'reply' | 'request'> & {
  readonly caller: HubCaller;
  readonly stillAllowed: () => Promise<HubCaller>;
};

const callTurns = {
  ofKey: limits.toolCallsAtOnce.value,
  waiting: 0,
  milliseconds: 0,
  detail: 'Other tool calls of this app have not ended. Wait for them, or make fewer at the same time.',
};
const subscriptionTurns = {
  ofKey: limits.toolSubscriptions.value,
  waiting: 0,
  milliseconds: 0,
  detail: 'Other subscriptions of this app to changes of tools are open. Close one first.',
};

export function toolRoutes(hub: Hub): HandlersOf<ToolRoute> {
  const calls = new Turns(callTurns);
  const subscriptions = new Turns(subscriptionTurns);

  async function serve(call: HubCall, appId?: string) {
    const { body, left, reply, request } = call;
    const stillAllowed = async () => toolCallerOf(await call.stillAllowed());
    const { method } = body as { readonly method?: unknown };
    const turns = method === 'subscriptions/listen' ? subscriptions : calls;
    const end = await turns.take(toolCallerOf(call.caller).id);
    const over = new AbortController();
    const late = setTimeout(() => over.abort(), limits.eventStreamSeconds.value * 1_000);
    const off = hub.callers.onEnd(call.caller, () => over.abort());
    try {
      const [app] = appId === undefined ? [] : await hub.served.of(call.caller.accountKey, appId);
      if (appId !== undefined && app === undefined) throw refuse('not_found', 'No app of this id serves tools.');
      // It may have ended, or lost something, before anybody listened for that, and while the app was asked.
      const caller = await stillAllowed();
      const chain = request.headers['platform-tool-chain'];
      const answer = await serveHub(hub, changesFor(hub, caller.accountKey, appId), {
        ...{ caller, stillAllowed, message: body },
        ...(app === undefined ? {} : { app }),
        chain: typeof chain === 'string' ? chain : undefined,
        request: new Request(new URL(request.url, hub.config.origin), {
          method: 'POST',
          headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
            typeof value === 'string' && FIELDS.test(name) ? [[name, value]] : [],
          ),
          signal: AbortSignal.any([left, over.signal, hub.stopping]),
        }),
      });
      return await sendWebAnswer(reply, answer);
    } finally {
      clearTimeout(late);
      off();
      end();
    }
  }

  return {
    ...pageRoutes(hub, calls),
    'services.mcp': (call) => serve(call),
    'services.mcp.app': (call) => serve(call, call.params.appId),
    async 'mcp.tools'(call) {
      if (!serves(call.caller, null)) throw refuse('not_authorized', 'This token is for the tools of one app.');
      return serve(call);
    },
    async 'mcp.tools.app'(call) {
      const { appId } = call.params;
      if (!serves(call.caller, appId)) throw refuse('not_authorized', 'This token is for the tools of another app.');
      return serve(call, appId);
    },
    'account.tools': async ({ caller: { accountKey }, query }) => {
      const items = (await selectToolApps(hub.database, accountKey)).map(toolAppOf);
      const list = { name: `tools:${accountKey}`, items, idOf: ({ app }: ToolApp) => app.id };
      return { status: 200, body: listPage(hub, query, list) };
    },
    'account.toolCalls': async ({ caller, query }) => ({
      status: 200,
      body: await listToolCalls(hub, caller.accountKey, query),
    }),
  };
}

function toolAppOf({ app_id, name, grants, agent, offer }: ToolAppRow): ToolApp {
  const offers = offer?.tools.map((tool) => ({
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
  }));
  return {
    app: { id: app_id, name },
    offers: offers ?? null,
    calls: resourcesOf(grants, 'mcp.tools.call'),
    proposes: agent ? ['*'] : resourcesOf(grants, 'mcp.tools.propose'),
  };
}

/** What the protocol reads of a request. The credential is none of it. */
const FIELDS = /^(?:accept|content-type|mcp-[a-z-]+|last-event-id)$/;
