// Fleet: the platform, its accounts, invitations and settings, for the account that looks after them.
import type { App } from '@platform/sdk/browser';
import type { ComponentType } from 'preact';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { AccountsPage } from './accounts-page.tsx';
import { InvitationsPage } from './invitations-page.tsx';
import { Overview } from './overview.tsx';
import { SettingsPage } from './settings-page.tsx';

startApp(Fleet);

const PAGES: Readonly<Record<string, ComponentType<{ readonly app: App }>>> = {
  Overview,
  Accounts: AccountsPage,
  Invitations: InvitationsPage,
  Settings: SettingsPage,
};

function Fleet({ app }: { readonly app: App }) {
  const [kept, setKept] = useKept<string>('page', 'Overview');
  const chosen = Object.hasOwn(PAGES, kept) ? kept : 'Overview';
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
      <Page app={app} />
    </main>
  );
}
