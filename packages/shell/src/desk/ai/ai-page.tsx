// AI providers and the account's keys for them, what apps used of their models this month, and what they may use.
import type { AccountIntelligenceUsage, AccountProvider, AppIntelligence, InstalledApp } from '@platform/contract';
import { addressOf, settingsAt } from '../../address/view.ts';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { type Reading, useReading } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { byName } from '../../apps/arrange.ts';
import { findApp, nameOf, readInstalledApps } from '../../apps/installed-apps.ts';
import { Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { isOperator } from '../../session/guide.ts';
import { UseChart, UseTable } from './ai-chart.tsx';
import { ProviderRow } from './ai-provider.tsx';
import { appsOf, costInWords, monthInWords, sumOf, tokens } from './ai-words.ts';
import { AppLimit } from './app-limit.tsx';

/** Requests at the same time; browsers hold back more. */
const AT_ONCE = 4;

interface LimitedApp {
  readonly appId: string;
  readonly name: string;
  readonly intelligence: AppIntelligence;
}

interface Use {
  /** Also of removed apps. */
  readonly usage: AccountIntelligenceUsage;
  /** Those that are installed and request AI. */
  readonly apps: readonly LimitedApp[];
}

export function AiPage() {
  const providers = useReading<readonly AccountProvider[]>(async () => (await call('account.intelligence.list')).items);
  const use = useReading(readUse);
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
        <Empty icon="ai" title="This platform has no AI provider yet">
          {isOperator() ? (
            <>
              Add one in the <a href={addressOf(settingsAt('platform'))}>settings of the platform</a>, also a free model
              on its own machine.
            </>
          ) : (
            'The operator can add one in Fleet, also a free model on the platform’s own machine.'
          )}
        </Empty>
      )}
      {providers.value !== null && (providers.value.length > 0 || hasApps(use.value)) && (
        <MonthAndLimits reading={use} />
      )}
    </>
  );
}

function hasApps(use: Use | null): boolean {
  return use !== null && (use.apps.length > 0 || use.usage.models.length > 0);
}

function MonthAndLimits({ reading }: { readonly reading: Reading<Use> }) {
  const { value, failure } = reading;
  if (failure !== null) return <Note tone="danger">{failure}</Note>;
  if (value === null) return <Skeleton lines={3} label="Loading what apps used" />;
  if (!hasApps(value)) {
    return (
      <Empty icon="apps" title="None of your apps uses AI">
        Install one that does from the Store. What it used, and its limits, then appear here.
      </Empty>
    );
  }
  const { usage, apps } = value;
  const put = (appId: string, intelligence: AppIntelligence) =>
    reading.put({ usage, apps: apps.map((app) => (app.appId === appId ? { ...app, intelligence } : app)) });
  return (
    <>
      <Month usage={usage} />
      {apps.length > 0 && (
        <section class="block" aria-labelledby="limits-title">
          <h3 id="limits-title">Limits</h3>
          <p class="quiet-text">
            {isOperator()
              ? 'You set what an app may use in Fleet → Settings, and can set less here.'
              : 'The operator sets what an app may use. You can set less.'}{' '}
            A month begins at midnight UTC.
          </p>
          <ul class="rows">
            {apps.map((app) => (
              <li key={app.appId} class="row stacked">
                <div class="row-main">
                  <AppPicture appId={app.appId} name={app.name} path={findApp(app.appId)?.icon ?? null} />
                  <span class="row-text">
                    <a class="link" href={addressOf(settingsAt('apps/:appId', { appId: app.appId }))}>
                      {app.name}
                    </a>
                  </span>
                </div>
                <AppLimit {...app} onChanged={(next) => put(app.appId, next)} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Month({ usage }: { readonly usage: AccountIntelligenceUsage }) {
  const used = appsOf(usage, nameOf);
  const total = sumOf(usage.models);
  const cost = costInWords(usage.models, usage.currency);
  return (
    <section class="block" aria-labelledby="use-title">
      <h3 id="use-title">{monthInWords(usage.month)}</h3>
      <p>{total === 0 ? 'No tokens used yet.' : `${tokens(total)} used by your apps`}</p>
      {cost !== null && (
        <p>
          {cost}{' '}
          {usage.models.some((use) => (use.cost ?? 0) > 0) && (
            <span class="quiet-text">Estimated with the operator’s prices. The provider’s bill may differ.</span>
          )}
        </p>
      )}
      {total > 0 && <UseChart apps={used} />}
      <UseTable apps={used} currency={usage.currency} />
    </section>
  );
}

async function readUse(): Promise<Use> {
  const [usage, apps] = await Promise.all([call('account.intelligence.usage'), readLimitedApps()]);
  return { usage, apps };
}

/** What each app that requests AI used and may use. */
async function readLimitedApps(): Promise<readonly LimitedApp[]> {
  const waiting = (await readInstalledApps()).filter(({ requestsIntelligence }) => requestsIntelligence);
  const found: LimitedApp[] = [];
  async function readNext(): Promise<void> {
    for (let app = waiting.pop(); app !== undefined; app = waiting.pop()) {
      const intelligence = await readOne(app);
      if (intelligence !== null) found.push({ appId: app.appId, name: app.name, intelligence });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return found.sort(byName);
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
