// AI providers and the account's keys for them, what apps used of their models this month, and what they may use.
import type { AccountProvider, AppIntelligence, InstalledApp } from '@platform/contract';
import { ApiError } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { AppPicture, Empty, Note, Skeleton } from '../design/controls.tsx';
import { findApp, readInstalledApps } from '../frames/installed-apps.ts';
import { addressOf } from '../view.ts';
import { UseChart, UseTable } from './ai-chart.tsx';
import { ProviderRow } from './ai-provider.tsx';
import { type AppUse, monthInWords, tokens } from './ai-words.ts';
import { AppLimit } from './app-limit.tsx';
import { type Reading, useReading } from './reading.ts';
import { PageHead } from './settings.tsx';

/** Requests at the same time; browsers hold back more. */
const AT_ONCE = 4;

export function AiPage() {
  const providers = useReading<readonly AccountProvider[]>(async () => (await call('account.intelligence.list')).items);
  const apps = useReading(readUse);
  return (
    <>
      <PageHead title="AI">
        <p class="quiet-text">
          Apps use AI models through the platform, within their permissions and limits. No app sees a key.
        </p>
      </PageHead>
      {providers.failure !== null && <Note tone="danger">{providers.failure}</Note>}
      {providers.value === null
        ? providers.failure === null && <Skeleton lines={2} label="Loading AI providers" />
        : providers.value.length > 0 && (
            <section class="block" aria-labelledby="providers-title">
              <h3 id="providers-title">Providers</h3>
              <ul class="rows">
                {providers.value.map((provider) => (
                  <ProviderRow key={provider.provider} provider={provider} again={providers.again} />
                ))}
              </ul>
            </section>
          )}
      {providers.value?.length === 0 && (
        <Empty icon="ai" title="No AI provider">
          The operator can add one, also a free model on the platform’s own machine: docs/operators.md says how.
        </Empty>
      )}
      {providers.value !== null && (providers.value.length > 0 || (apps.value?.length ?? 0) > 0) && (
        <Use reading={apps} />
      )}
    </>
  );
}

function Use({ reading }: { readonly reading: Reading<readonly AppUse[]> }) {
  const apps = reading.value;
  if (reading.failure !== null) return <Note tone="danger">{reading.failure}</Note>;
  if (apps === null) return <Skeleton lines={3} label="Loading what apps used" />;
  const [first] = apps;
  if (first === undefined) {
    return (
      <Empty icon="apps" title="None of your apps uses AI">
        Those that request it appear here with what they used.
      </Empty>
    );
  }
  const total = apps.reduce((sum, { intelligence }) => sum + intelligence.usage.tokens, 0);
  const put = (appId: string, intelligence: AppIntelligence) =>
    reading.put(apps.map((app) => (app.appId === appId ? { ...app, intelligence } : app)));
  return (
    <>
      <section class="block" aria-labelledby="use-title">
        <h3 id="use-title">{monthInWords(first.intelligence.usage.month)}</h3>
        <p>{total === 0 ? 'No tokens used yet.' : `${tokens(total)} used by your apps`}</p>
        {total > 0 && <UseChart apps={apps} />}
        <UseTable apps={apps} />
      </section>
      <section class="block" aria-labelledby="limits-title">
        <h3 id="limits-title">Limits</h3>
        <p class="quiet-text">
          The operator sets what an app may use in a month, which begins at midnight UTC. You can set less.
        </p>
        <ul class="rows">
          {apps.map((app) => (
            <li key={app.appId} class="row stacked">
              <div class="row-main">
                <AppPicture name={app.name} path={findApp(app.appId)?.icon ?? null} />
                <a class="link" href={addressOf({ kind: 'settings', page: 'app', appId: app.appId })}>
                  {app.name}
                </a>
              </div>
              <AppLimit {...app} onChanged={(next) => put(app.appId, next)} />
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** What each app that requests AI used and may use. */
async function readUse(): Promise<readonly AppUse[]> {
  const waiting = (await readInstalledApps()).filter(({ requestsIntelligence }) => requestsIntelligence);
  const found: AppUse[] = [];
  async function readNext(): Promise<void> {
    for (let app = waiting.pop(); app !== undefined; app = waiting.pop()) {
      const intelligence = await readOne(app);
      if (intelligence !== null) found.push({ appId: app.appId, name: app.name, intelligence });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return found.sort((one, other) => one.name.localeCompare(other.name));
}

/** `null` when it was removed meanwhile. */
async function readOne({ appId }: InstalledApp): Promise<AppIntelligence | null> {
  try {
    return await call('apps.intelligence.read', { params: { appId } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
