// The routes of the agent, which is the backend of this app, and what the shell answers about it.
import {
  type AgentAnswer,
  type AgentEvent,
  type AgentProfile,
  type AgentProfileBody,
  type AgentSession,
  type AgentSessionsFound,
  type App,
  PlatformError,
} from '@platform/sdk/browser';
import { eventsOf, type Heard } from './events.ts';

export type Described = AgentAnswer['agent'];
export type FoundSession = AgentSessionsFound['items'][number];

export interface SessionPage extends AgentSession {
  readonly events: readonly AgentEvent[];
  readonly earlier: boolean;
}

export interface Branch {
  readonly session: string;
  /** Of the message that is written anew. */
  readonly sequence: number;
}

export interface Message {
  readonly text: string;
  /** Of this page: it is the same for the same message, however often that is sent. */
  readonly message: string;
}

/** Whether nothing was done: without an answer, or with one of the way there, nobody knows. */
export function isRefused(error: unknown): boolean {
  return error instanceof PlatformError && error.status >= 400 && error.status < 500;
}

const ROOT = '/v1/agent';
/** The largest that there is. */
const PAGE = 200;
/** It may have to wake up first. */
const PATIENCE = { timeoutMilliseconds: 60_000 };

export function agentApi({ backend }: App) {
  const ask = <Body>(path: string, init: { method?: string; body?: unknown } = {}) =>
    backend.json<Body>(`${ROOT}${path}`, init, PATIENCE);
  const sessionOf = async (path: string, init: { method?: string; body?: unknown }) =>
    (await ask<{ session: AgentSession }>(path, init)).session;
  return {
    describe: async () => (await ask<AgentAnswer>('')).agent,
    sessions: async () => (await ask<{ items: AgentSession[] }>('/sessions')).items,
    search: (query: string, signal: AbortSignal) =>
      backend.json<AgentSessionsFound>(
        `${ROOT}/sessions?${new URLSearchParams({ query })}`,
        {},
        { ...PATIENCE, signal },
      ),
    /** Asked again with the same id, it is begun once. */
    begin: (body: { readonly id: string; readonly profile?: string; readonly branch?: Branch }) =>
      sessionOf('/sessions', { body }),
    page: async (id: string, before?: number) => {
      const query = new URLSearchParams({
        limit: String(PAGE),
        ...(before === undefined ? {} : { before: String(before) }),
      });
      return (await ask<{ session: SessionPage }>(`/sessions/${id}?${query}`)).session;
    },
    rename: (id: string, title: string) => sessionOf(`/sessions/${id}`, { method: 'PATCH', body: { title } }),
    remove: (id: string) => ask<undefined>(`/sessions/${id}`, { method: 'DELETE' }),
    /** Sent again with the same id, it is taken once. */
    say: (id: string, { text, message }: Message) => sessionOf(`/sessions/${id}/messages`, { body: { text, message } }),
    stop: (id: string) => sessionOf(`/sessions/${id}/cancel`, { method: 'POST' }),
    profiles: async () => (await ask<{ items: AgentProfile[] }>('/profiles')).items,
    saveProfile: async (id: string | undefined, body: AgentProfileBody) => {
      const init = id === undefined ? { body } : { method: 'PUT', body };
      return (await ask<{ profile: AgentProfile }>(`/profiles${id === undefined ? '' : `/${id}`}`, init)).profile;
    },
    removeProfile: (id: string) => ask<undefined>(`/profiles/${id}`, { method: 'DELETE' }),
    /** What happens from an event on, until the connection ends: the agent ends it when nothing happens. */
    async *follow(id: string, after: number, signal: AbortSignal): AsyncGenerator<Heard> {
      const answer = await backend.fetch(`${ROOT}/sessions/${id}/events`, {
        headers: { accept: 'text/event-stream', 'last-event-id': String(after) },
        cache: 'no-store',
        signal,
      });
      if (!answer.ok || answer.body === null) throw await refusalOf(answer);
      yield* eventsOf(answer.body);
    },
  };
}

export type AgentApi = ReturnType<typeof agentApi>;

async function refusalOf(answer: Response): Promise<PlatformError> {
  const { code = 'invalid_answer', detail = 'The agent gave no answer that can be read.' } = (await answer
    .json()
    .catch(() => ({}))) as { code?: string; detail?: string };
  return new PlatformError({ code: code as PlatformError['code'], status: answer.status, detail });
}
