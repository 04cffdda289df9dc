// Asking the person before an agent searches the web. Core asks, and not the agent, so that no agent can pass it.
import {
  type AgentView,
  limits,
  refuse,
  type WebSearchAnswer,
  type WebSearchId,
  webSearchId,
} from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { awaitChange, type Waiting } from '../events/await-change.ts';
import type { InstallationCaller } from '../installations/face.ts';
import {
  type Agent,
  allowSession,
  answerRequests,
  changeConsent,
  deleteRequest,
  insertRequest,
  isSessionAllowed,
  lockAgent,
  type RequestRow,
  selectAgent,
  selectAnswer,
  selectConsent,
  selectWaiting,
} from './queries.ts';

export type AskingCall = Waiting<InstallationCaller, unknown>['call'];

interface Search {
  readonly query: string;
  readonly session: string;
}

/**
 * Resolves once the person allowed this search, now or before.
 *
 * @throws RefusalError `consent_denied`, `concurrency_limited` while too many wait for the person, `unavailable` when core stops; what
 *   `stillAllowed` throws for a caller that ended
 */
export async function requireConsent(context: CoreContext, call: AskingCall, search: Search): Promise<void> {
  const id = await askUnlessAllowed(context, call.caller, search);
  if (id === null) return;
  try {
    const answer = await awaitChange<InstallationCaller, WebSearchAnswer | null>(context, {
      call,
      wakeOn: [{ signal: 'agent-changed', about: { member: 'installationId', value: call.caller.installationId } }],
      longestMilliseconds: limits.webSearchConsentSeconds.value * 1_000,
      // Gone is as good as denied: the app was removed.
      read: async () => {
        const row = await selectAnswer(context.database, id);
        return row === undefined ? 'deny' : row.answer;
      },
      isNews: (value) => value !== null,
    });
    if (answer === null && context.stopping.aborted) throw refuse('unavailable');
    if (answer === null) throw refuse('consent_denied', 'The person did not answer in time.');
    if (answer === 'deny') throw refuse('consent_denied');
  } finally {
    await endRequest(context, call.caller, id);
  }
}

/** @returns `null` when it is allowed already */
async function askUnlessAllowed(
  context: CoreContext,
  { installationId, accountKey, appId }: InstallationCaller,
  { query, session }: Search,
): Promise<WebSearchId | null> {
  const id = webSearchId.parse(newId('wsr', context));
  const now = context.clock();
  return context.database.transaction().execute(async (trx) => {
    await lockAgent(trx, installationId);
    const { consent, version } = await selectConsent(trx, installationId);
    const since = new Date(now.getTime() - limits.webSearchSessionSeconds.value * 1_000);
    if (consent || (await isSessionAllowed(trx, { installationId, session, version, since }))) return null;
    if ((await selectWaiting(trx, installationId, now)).length >= limits.webSearchesWaiting.value)
      throw refuse('concurrency_limited', 'Other searches wait for the person. Wait for their answer.');
    const expiresAt = new Date(now.getTime() + limits.webSearchConsentSeconds.value * 1_000);
    await insertRequest(trx, {
      id,
      installation_id: installationId,
      query,
      session,
      asked_at: now,
      expires_at: expiresAt,
      answer: null,
    });
    await notify(trx, 'agent-changed', { installationId, accountKey, appId });
    return id;
  });
}

/** Whatever became of it, nobody is asked any more. */
async function endRequest(
  { database }: CoreContext,
  { installationId, accountKey, appId }: InstallationCaller,
  id: WebSearchId,
): Promise<void> {
  await database.transaction().execute(async (trx) => {
    await deleteRequest(trx, id);
    await notify(trx, 'agent-changed', { installationId, accountKey, appId });
  });
}

/** @throws RefusalError `not_found` for what is no agent that searches */
export async function viewAgent(context: CoreContext, accountKey: string, appId: string): Promise<AgentView> {
  return viewOf(context, context.database, await requireAgent(context.database, accountKey, appId));
}

async function requireAgent(db: Executor, accountKey: string, appId: string): Promise<Agent> {
  const agent = await selectAgent(db, accountKey, appId);
  if (agent === undefined) throw refuse('not_found');
  return agent;
}

async function viewOf({ clock }: CoreContext, db: Executor, { installationId }: Agent): Promise<AgentView> {
  const { consent, version, changed_at } = await selectConsent(db, installationId);
  const waiting = await selectWaiting(db, installationId, clock());
  return {
    webSearch: { consent, version, changedAt: changed_at?.toISOString() ?? null },
    waiting: waiting.map(waitingOf),
  };
}

function waitingOf({ id, query, session, asked_at }: RequestRow): AgentView['waiting'][number] {
  return { id, query, session, askedAt: asked_at.toISOString() };
}

export interface Answering {
  readonly accountKey: string;
  readonly appId: string;
  readonly id: WebSearchId;
  readonly answer: WebSearchAnswer;
}

/**
 * What the person allowed for the session, or for good, answers what else waits under it as well.
 *
 * @throws RefusalError `not_found` also for a search that nobody waits for any more
 */
export function answerSearch(context: CoreContext, { accountKey, appId, id, answer }: Answering): Promise<AgentView> {
  return context.database.transaction().execute(async (trx) => {
    const agent = await requireAgent(trx, accountKey, appId);
    const { installationId } = agent;
    await lockAgent(trx, installationId);
    const now = context.clock();
    const [request] = await answerRequests(trx, { installationId, id }, { answer, now });
    if (request === undefined) throw refuse('not_found', 'This search waits no more.');
    if (answer === 'always') {
      await changeConsent(trx, installationId, { consent: true, now });
      await answerRequests(trx, { installationId }, { answer, now });
    }
    if (answer === 'session') {
      const { version } = await selectConsent(trx, installationId);
      const { session } = request;
      const row = { installation_id: installationId, session, version, granted_at: now };
      await allowSession(trx, row, limits.webSearchSessions.value);
      await answerRequests(trx, { installationId, session }, { answer, now });
    }
    await notify(trx, 'agent-changed', { installationId, accountKey, appId });
    return viewOf(context, trx, agent);
  });
}

/** Takes back the standing consent and those of sessions. @throws RefusalError `not_found` */
export function revokeConsent(context: CoreContext, accountKey: string, appId: string): Promise<AgentView> {
  return context.database.transaction().execute(async (trx) => {
    const agent = await requireAgent(trx, accountKey, appId);
    const { installationId } = agent;
    await lockAgent(trx, installationId);
    await changeConsent(trx, installationId, { consent: false, now: context.clock() });
    await notify(trx, 'agent-changed', { installationId, accountKey, appId });
    return viewOf(context, trx, agent);
  });
}
