// Fleet: the platform, its accounts, invitations and settings, and what is set up, for the account that looks after them.
import type { App } from '@platform/sdk/browser';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { AccountsPage } from './accounts-page.tsx';
import { InvitationsPage } from './invitations-page.tsx';
import { Overview } from './overview.tsx';
import { SettingsPage } from './settings-page.tsx';
import { SetupPage } from './setup-page.tsx';

startApp(Fleet);

const PAGES: Readonly<Record<string, ComponentType<{ readonly app: App; readonly onPage: (name: string) => void }>>> = {
  Overview,
  Accounts: AccountsPage,
  Invitations: InvitationsPage,
  Settings: SettingsPage,
  Setup: SetupPage,
};

function Fleet({ app }: { readonly app: App }) {
  const [kept, setKept] = useKept<string>('page', 'Overview');
  const chosen = Object.hasOwn(PAGES, kept) ? kept : 'Overview';
  // The shell leads here from home.
  useEffect(() => {
    const follow = (target: string | undefined) => {
      const page = new URLSearchParams(target).get('page');
      if (page !== null) setKept(page);
    };
    follow(app.context.target);
    return app.on('target', ({ target }) => follow(target));
  }, []);
  const Page = PAGES[chosen] ?? Overview;
  return (
    <main>
      <div class="row between head">
        <h1>Fleet</h1>
        <nav class="segments" aria-label="Fleet">
          {Object.keys(PAGES).map((name) => (
            <button
              key={name}
              type="button"
              aria-current={name === chosen ? 'page' : undefined}
              onClick={() => setKept(name)}
            >
              {name}
            </button>
          ))}
        </nav>
      </div>
      <Page app={app} onPage={setKept} />
    </main>
  );
}
