// Web search by agents (contract 4g): the operator names an engine, and core asks the person before each search.
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { timestamp, webSearchId } from '../primitives.ts';
import { storable, visible } from '../text.ts';
import { json, ofApp } from './common.ts';

const limits = {
  webSearchQuery: { value: 400, unit: 'characters', meaning: 'query of a web search' },
  webSearchItems: { value: 20, unit: 'items', meaning: 'results of a web search' },
  webSearchAnswer: { value: MiB, unit: 'bytes', meaning: 'answer of a search engine' },
  webSearchSeconds: { value: 15, unit: 'seconds', meaning: 'time in which a search engine answers' },
  webSearchConsentSeconds: { value: 300, unit: 'seconds', meaning: 'time in which a person can allow a web search' },
  webSearchesWaiting: { value: 3, unit: 'items', meaning: 'web searches of one agent that wait for its person' },
  webSearchesAtOnce: { value: 4, unit: 'items', meaning: 'web searches of one agent that are under way' },
  webSearchRate: { value: 30, unit: 'per minute', meaning: 'web searches of all agents of one account' },
  webSearchDayRate: {
    value: 500,
    unit: 'items',
    meaning: 'web searches of all agents of one account within a day, one more every three minutes',
  },
  webSearchSessionSeconds: {
    value: 86_400,
    unit: 'seconds',
    meaning: 'time after which the consent for a session of an agent ends, however long the session goes on',
  },
  webSearchSessions: { value: 50, unit: 'items', meaning: 'sessions of one agent with consent; the oldest go first' },
  webSearchTitle: { value: 200, unit: 'characters', meaning: 'title of a result; longer ones are cut' },
  webSearchSnippet: { value: 600, unit: 'characters', meaning: 'snippet of a result; longer ones are cut' },
  webSearchUrl: { value: 2_048, unit: 'characters', meaning: 'address of a result; one with a longer one is left out' },
} as const satisfies Limits;

const errors = {
  consent_denied: {
    status: 403,
    title: 'The person did not allow this search.',
    help: 'They declined, or did not answer within five minutes. Go on without it; do not ask the same again.',
  },
} as const satisfies Errors;

const query = z
  .string()
  .min(1)
  .max(limits.webSearchQuery.value)
  .refine(...storable)
  .regex(...visible);
/** As the agent calls its session; consent for a session holds for this name. */
const session = z.string().regex(/^[\w-]{1,128}$/, 'must be 1 to 128 letters, digits, hyphens and underscores');

export const webSearchBody = z.strictObject({
  query,
  count: z.int().min(1).max(limits.webSearchItems.value).default(10),
  session,
});

export const webSearchItem = z.strictObject({
  title: z.string(),
  /** http or https. */
  url: z.string(),
  snippet: z.string(),
});
export type WebSearchItem = z.infer<typeof webSearchItem>;

export const waitingWebSearch = z.strictObject({
  id: webSearchId,
  /** Exactly what would be sent. */
  query: z.string(),
  session: z.string(),
  askedAt: timestamp,
});
export type WaitingWebSearch = z.infer<typeof waitingWebSearch>;

export const agentView = z.strictObject({
  webSearch: z.strictObject({
    /** Standing: searches are made without a question. */
    consent: z.boolean(),
    /** Raised at every change of it. */
    version: z.int().nonnegative(),
    changedAt: timestamp.nullable(),
  }),
  /** Oldest first. */
  waiting: z.array(waitingWebSearch),
});
export type AgentView = z.infer<typeof agentView>;

export const webSearchAnswers = ['once', 'session', 'always', 'deny'] as const;
export const webSearchAnswer = z.enum(webSearchAnswers);
export type WebSearchAnswer = z.infer<typeof webSearchAnswer>;

const routes = {
  'services.webSearch': {
    method: 'POST',
    path: '/v1/services/web-search',
    summary: 'Search the web, for an agent that declares it; core asks its person, and waits for them',
    callers: ['installation'],
    body: json(webSearchBody),
    answers: { 200: z.strictObject({ items: z.array(webSearchItem) }) },
    refuses: [
      'consent_denied',
      'not_authorized',
      'concurrency_limited',
      'upstream_failed',
      'upstream_timeout',
      'unavailable',
    ],
    rate: 'service',
  },
  'apps.agent.read': {
    method: 'GET',
    path: '/v1/apps/:appId/agent',
    summary: 'Whether an agent may search the web, and which searches wait for the person',
    callers: ['session'],
    params: ofApp,
    answers: { 200: agentView },
    rate: 'session',
  },
  'apps.agent.answer': {
    method: 'POST',
    path: '/v1/apps/:appId/agent/web-search/:id',
    summary: 'Allow or deny a web search that waits: this one, those of its session, or all of this agent',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'sends a query that was shown, and can be taken back' },
    params: ofApp.extend({ id: webSearchId }),
    body: json(z.strictObject({ answer: webSearchAnswer })),
    answers: { 200: agentView },
    refuses: ['not_found'],
    rate: 'session',
  },
  'apps.agent.revoke': {
    method: 'DELETE',
    path: '/v1/apps/:appId/agent/web-search',
    summary: 'Take back every consent to web searches of an agent',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes a consent back' },
    params: ofApp,
    answers: { 200: agentView },
    rate: 'session',
  },
} as const satisfies Routes;

export const webSearch = { limits, errors, routes } as const;
