// Web searches of agents, and what their people say to them, over HTTP.
import { type DomainRoute, limits, refuse } from '@platform/contract';
import { Turns } from '../background/turns.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { takeQuota } from '../http/rates/quota.ts';
import { answerSearch, requireConsent, revokeConsent, viewAgent } from './consent.ts';
import type { SearchEngine } from './engine/engine.ts';
import { isAgent } from './queries.ts';

export type WebSearchRoute = DomainRoute<'webSearch'>;

/** @param engine of this moment; `null` where the operator set up none */
export function webSearchRoutes(context: CoreContext, engine: () => SearchEngine | null): HandlersOf<WebSearchRoute> {
  const turns = new Turns({
    ofKey: limits.webSearchesAtOnce.value,
    waiting: 0,
    milliseconds: 1_000,
    detail: 'Other searches are under way. Wait for one to end.',
  });
  // Those of an account alone, so that none takes the engine from the others.
  const asking = new Turns({
    ofKey: 4,
    inAll: 16,
    waiting: 4,
    milliseconds: 5_000,
    detail: 'The search engine is busy. Try again in a moment.',
  });
  // What is paid for each: counted where it is sent, so that what a person denies costs nothing.
  const countSearch = async (subject: string) => {
    const { webSearchRate, webSearchDayRate } = limits;
    const detail = (most: string) => `The agents of one account make at most ${most}.`;
    const ofMinute = detail(`${webSearchRate.value} web searches a minute`);
    await takeQuota(context, { kind: 'webSearch', subject, detail: ofMinute });
    const ofDay = detail(`${webSearchDayRate.value} web searches a day`);
    await takeQuota(context, { kind: 'webSearchDay', subject, detail: ofDay });
  };
  const requireEngine = (): SearchEngine => {
    const there = engine();
    if (there === null)
      throw refuse(
        'unavailable',
        'This platform has no search engine. Its operator can set one up (PLATFORM_WEB_SEARCH_FILE).',
      );
    return there;
  };
  return {
    'services.webSearch': async ({ caller, body: { query, count, session }, stillAllowed, left }) => {
      if (!(await isAgent(context.database, caller.installationId)))
        throw refuse('not_authorized', 'Only an agent that declares `webSearch` searches the web.');
      // Nobody is asked for nothing.
      requireEngine();
      const items = await turns.run(caller.installationId, async () => {
        await requireConsent(context, { caller, left, stillAllowed }, { query, session });
        const search = async () => {
          await stillAllowed();
          const there = requireEngine();
          await countSearch(caller.accountKey);
          return there.search(query, count, left);
        };
        return asking.run(caller.accountKey, search, left);
      });
      return { status: 200, body: { items } };
    },
    'apps.agent.read': async ({ caller: { accountKey }, params: { appId } }) => ({
      status: 200,
      body: await viewAgent(context, accountKey, appId),
    }),
    'apps.agent.answer': async ({ caller: { accountKey }, params: { appId, id }, body: { answer } }) => ({
      status: 200,
      body: await answerSearch(context, { accountKey, appId, id, answer }),
    }),
    'apps.agent.revoke': async ({ caller: { accountKey }, params: { appId } }) => ({
      status: 200,
      body: await revokeConsent(context, accountKey, appId),
    }),
  };
}
