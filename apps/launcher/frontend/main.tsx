// Launcher: the home screen. Every installed app one press away, and where to start when there is none of one's own.
import type { App, InstalledApp } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { AppIcon } from '../../shared/app-icon.tsx';
import { Failure } from '../../shared/failure.tsx';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';

/** What every account has from the beginning, most used first; everything else is what the person chose. */
const ORDER = ['store', 'notifications', 'schedules', 'contacts', 'agent', 'wallet', 'settings'];

startApp(Home);

function Home({ app }: { readonly app: App }) {
  const apps = useLoaded(app, () => app.apps.list());
  const [problem, setProblem] = useState<string>();
  const open = (appId: string) => {
    setProblem(undefined);
    app.apps.open(appId).catch((error: unknown) => setProblem(messageOf(error)));
  };
  const shown = (apps.value ?? []).filter(({ appId, hasFrontend }) => hasFrontend && appId !== app.appId);
  const own = shown.filter(({ appId }) => !ORDER.includes(appId));
  const given = ORDER.flatMap((appId) => shown.find((entry) => entry.appId === appId) ?? []);
  return (
    <main>
      <h1>{app.context.accountName === undefined ? 'Home' : `Welcome, ${app.context.accountName}`}</h1>
      <Failure text={problem ?? apps.failure} />
      {apps.value !== undefined && own.length === 0 && <StartHere onStore={() => open('store')} />}
      {own.length > 0 && <Grid title="Your apps" apps={own} onOpen={open} />}
      <Grid title="Part of the platform" apps={given} onOpen={open} />
    </main>
  );
}

function StartHere({ onStore }: { readonly onStore: () => void }) {
  return (
    <section class="card first row between appears">
      <div class="grow">
        <h2>Start here</h2>
        <p class="quiet">Install your first app from the Store. Before you install an app, you see what it may do.</p>
      </div>
      <button type="button" class="primary" onClick={onStore}>
        Open the Store
      </button>
    </section>
  );
}

interface GridProps {
  readonly title: string;
  readonly apps: readonly InstalledApp[];
  readonly onOpen: (appId: string) => void;
}

function Grid({ title, apps, onOpen }: GridProps) {
  if (apps.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="plain grid">
        {apps.map(({ appId, name, icon }) => (
          <li key={appId}>
            <button type="button" onClick={() => onOpen(appId)}>
              <AppIcon name={name} icon={icon} large />
              {name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
