// The web search domain: agents search the web through the operator's engine, each time with the consent of their person.
import { appId as appIdShape } from '@platform/contract';
import { jsonFile } from '../account-files.ts';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { SearchEngine } from './engine/engine.ts';
import { readEngineFile } from './engine/engine-file.ts';
import {
  changeConsent,
  deleteExpired,
  deleteRequestsOf,
  deleteSessionsOf,
  selectAsking,
  selectConsent,
  selectConsentsOf,
} from './queries.ts';
import { type WebSearchRoute, webSearchRoutes } from './routes.ts';

const PERIOD_MILLISECONDS = 600_000;
const BATCH = 500;

export function webSearchDomain(context: CoreContext): Domain<WebSearchRoute> {
  let engine: SearchEngine | null = null;

  /** @throws StartError for a file that is wrong; the engine stays as it was */
  function open(): void {
    const { webSearchFile, outbound } = context.config;
    const next =
      webSearchFile === null ? null : new SearchEngine(readEngineFile(webSearchFile), { ca: outbound.ca ?? undefined });
    void engine?.retire();
    engine = next;
  }

  const sweep = new PeriodicTask(context, {
    name: 'web-search',
    everyMilliseconds: PERIOD_MILLISECONDS,
    piece: async (proven) => (await deleteExpired(context.database, { proven, atMost: BATCH })) === BATCH,
  });
  const closing = {
    start: () => undefined,
    stop: async () => {
      await engine?.close();
      engine = null;
    },
  };
  return {
    handlers: webSearchRoutes(context, () => engine),
    workers: [closing, sweep],
    emits: [
      emission({
        signal: 'agent-changed',
        event: 'agent',
        to: ['session'],
        holds: ({ appId }) => [appId],
        async *read({ caller: { accountKey } }, held) {
          const appIds = held.length > 0 ? held : await selectAsking(context.database, accountKey, context.clock());
          for (const appId of new Set(appIds)) yield { data: { appId: appIdShape.parse(appId) } };
        },
      }),
    ],
    starting: async () => open(),
    reloaded: async () => open(),
    /** Installed again it asks again. */
    async installationEnded(trx, id) {
      await deleteRequestsOf(trx, id);
      await deleteSessionsOf(trx, id);
      const { version } = await selectConsent(trx, id);
      if (version > 0) await changeConsent(trx, id, { consent: false, now: context.clock() });
    },
    async *filesOf({ accountKey }) {
      const rows = await selectConsentsOf(context.database, accountKey);
      const items = rows.map(({ app_id: appId, consent, version, changed_at }) => ({
        ...{ appId, consent, version },
        changedAt: changed_at.toISOString(),
      }));
      yield jsonFile('web-search.json', { items });
    },
  };
}
