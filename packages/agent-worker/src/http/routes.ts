// The routes of the agent for the frontend of its app (contract 4g).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentMessageBody, agentSessionBody, agentSessionQuery, agents } from '@platform/contract/agents';
import type * as z from 'zod';
import type { Line } from '../sessions/journal.ts';
import { type Session, shown } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { Agent } from '../turns/agent.ts';
import type { Streams } from './events.ts';
import { Refusal } from './refusal.ts';

export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Of the path. */
  readonly id: string;
}

/** What is sent; `undefined` where the route has answered itself. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
}

export type Route = (call: Call) => Promise<Answer | undefined>;

/** By path and method. */
export type Routes = readonly {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Route>>;
}[];

const SESSION = '(?<id>ses-[0-9a-f-]{36})';

export function agentRoutes(parts: {
  readonly agent: Agent;
  readonly store: SessionStore;
  readonly streams: Streams;
}): Routes {
  const { agent, store, streams } = parts;
  return [
    { path: /^\/v1\/agent$/, methods: { GET: async () => ({ status: 200, body: await agent.describe() }) } },
    {
      path: /^\/v1\/agent\/sessions$/,
      methods: {
        GET: async () => ({ status: 200, body: { items: store.list().map(shown) } }),
        async POST({ request }) {
          const { branch } = await read(request, agentSessionBody);
          using source = branch === undefined ? undefined : store.open(branch.session);
          const lines = source === undefined ? [] : linesBefore(source.session, branch?.sequence ?? 0);
          using created = store.create();
          try {
            if (lines.length > 0) created.session.appendAll(lines);
            if (source !== undefined) created.session.entitle(source.session.card.title);
          } catch (error) {
            store.remove(created.session.card.id);
            throw error;
          }
          return { status: 201, body: { session: shown(created.session.card) } };
        },
      },
    },
    {
      path: new RegExp(`^/v1/agent/sessions/${SESSION}$`),
      methods: {
        async GET({ id, url }) {
          using use = store.open(id);
          return { status: 200, body: { session: page(use.session, url) } };
        },
        async DELETE({ id }) {
          store.remove(id);
          return { status: 204 };
        },
      },
    },
    {
      path: new RegExp(`^/v1/agent/sessions/${SESSION}/messages$`),
      methods: {
        async POST({ id, request }) {
          const { text } = await read(request, agentMessageBody);
          agent.say(id, text);
          using use = store.open(id);
          return { status: 202, body: { session: shown(use.session.card) } };
        },
      },
    },
    {
      path: new RegExp(`^/v1/agent/sessions/${SESSION}/cancel$`),
      methods: {
        async POST({ id }) {
          await agent.cancel(id);
          using use = store.open(id);
          return { status: 200, body: { session: shown(use.session.card) } };
        },
      },
    },
    {
      path: new RegExp(`^/v1/agent/sessions/${SESSION}/events$`),
      methods: {
        async GET({ id, request, response, url }) {
          streams.open(id, request, response, url);
          return undefined;
        },
      },
    },
  ];
}

/** Events up to a message of the person's, which is left out: so it can be written anew. */
function linesBefore(source: Session, sequence: number): readonly Line[] {
  const last = source.lines[sequence - 1];
  if (last?.event !== 'message' || last.data.role !== 'user')
    throw new Refusal('invalid_request', 'A session branches at a message of the person’s.', {
      errors: [{ path: 'branch.sequence', message: 'is not the sequence of such a message' }],
    });
  return source.lines.slice(0, sequence - 1);
}

/** The newest events, or those before one. */
function page(session: Session, url: URL): object {
  const parsed = agentSessionQuery.safeParse(Object.fromEntries(url.searchParams));
  if (!parsed.success) throw invalid(parsed.error);
  const { limit, before = Number.MAX_SAFE_INTEGER } = parsed.data;
  const end = Math.min(before - 1, session.lines.length);
  const start = Math.max(0, end - limit);
  const events = session.lines.slice(start, end).map(({ context: _, ...event }) => event);
  return { ...shown(session.card), events, earlier: start > 0 };
}

async function read<Schema extends z.ZodType>(request: IncomingMessage, schema: Schema): Promise<z.output<Schema>> {
  const parsed = schema.safeParse(await readJson(request));
  if (!parsed.success) throw invalid(parsed.error);
  return parsed.data;
}

function invalid({ issues }: z.ZodError): Refusal {
  const errors = issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = errors;
  const where = first === undefined || first.path === '' ? 'The request' : first.path;
  return new Refusal('invalid_request', `${where}: ${first?.message ?? 'is not valid'}.`, { errors });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > agents.limits.agentRequest.value) throw new Refusal('payload_too_large');
    parts.push(part);
  }
  if (size === 0) return {};
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal('unsupported_media_type', 'Send JSON, as application/json.');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
  } catch {
    throw new Refusal('invalid_request', 'The body is not JSON in UTF-8.');
  }
}
