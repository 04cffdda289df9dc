// The routes of the agent for the frontend of its app (contract 4g).
import {
  type AgentSessionsFound,
  agentMessageBody,
  agentSessionBody,
  agentSessionChange,
  agentSessionQuery,
  agentSessionsQuery,
} from '@platform/contract/agents';
import type { ProfileStore } from '../profiles/profile-store.ts';
import type { Line } from '../sessions/journal.ts';
import { type Session, shown } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { Agent } from '../turns/agent.ts';
import type { Streams } from './events.ts';
import { profileRoutes } from './profile-routes.ts';
import { readBody, readQuery } from './read-body.ts';
import { Refusal } from './refusal.ts';
import type { Routes } from './route.ts';

const SESSION = '(?<id>ses-[0-9a-f-]{36})';

export function agentRoutes(parts: {
  readonly agent: Agent;
  readonly store: SessionStore;
  readonly profiles: ProfileStore;
  readonly streams: Streams;
}): Routes {
  const { agent, store, profiles, streams } = parts;

  async function search(query: string, left: AbortSignal): Promise<AgentSessionsFound> {
    const { found, complete } = await store.search(query, left);
    return { items: found.map(({ card, match }) => ({ ...shown(card), match })), complete };
  }

  return [
    ...profileRoutes(profiles),
    { path: /^\/v1\/agent$/, methods: { GET: async () => ({ status: 200, body: await agent.describe() }) } },
    {
      path: /^\/v1\/agent\/sessions$/,
      methods: {
        async GET({ url, response }) {
          const { query } = readQuery(url, agentSessionsQuery);
          if (query === undefined) return { status: 200, body: { items: store.list().map(shown) } };
          const left = new AbortController();
          response.once('close', () => left.abort());
          return search(query, left.signal).then(
            (body) => ({ status: 200, body }),
            (error: unknown) => {
              if (left.signal.aborted) return undefined;
              throw error;
            },
          );
        },
        async POST({ request }) {
          const { id, branch, profile } = await readBody(request, agentSessionBody);
          if (profile !== undefined && profiles.find(profile) === undefined)
            throw new Refusal('not_found', 'There is no such profile.');
          using source = branch === undefined ? undefined : store.open(branch.session);
          const lines = source === undefined ? [] : linesBefore(source.session, branch?.sequence ?? 0);
          const isNew = id === undefined || !store.has(id);
          using begun = isNew ? store.create(profile ?? source?.session.card.profile, id) : store.open(id);
          const { session } = begun;
          try {
            // Of one that was begun before, the answer was lost, or the process ended in between.
            if (session.lines.length === 0 && lines.length > 0) session.appendAll(lines);
            if (source !== undefined) session.entitle(source.session.card.title);
          } catch (error) {
            if (isNew) store.remove(session.card.id);
            throw error;
          }
          return { status: isNew ? 201 : 200, body: { session: shown(session.card) } };
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
        async PATCH({ id, request }) {
          const { title } = await readBody(request, agentSessionChange);
          using use = store.open(id);
          use.session.rename(title.trim());
          return { status: 200, body: { session: shown(use.session.card) } };
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
          const { text, message } = await readBody(request, agentMessageBody);
          agent.say(id, text, message);
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
  const { limit, before = Number.MAX_SAFE_INTEGER } = readQuery(url, agentSessionQuery);
  const end = Math.min(before - 1, session.lines.length);
  const start = Math.max(0, end - limit);
  const events = session.lines.slice(start, end).map(({ context: _, ...event }) => event);
  return { ...shown(session.card), events, earlier: start > 0 };
}
