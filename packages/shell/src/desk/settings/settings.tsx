// The shell's own settings pages: what must not be drawn by any app.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { addressOf, type SettingsPage } from '../../address/view.ts';
import { Icon } from '../../design/icons.tsx';
import { AccountPage } from '../account/account-page.tsx';
import { CommandLinePage } from '../account/command-line-page.tsx';
import { PasskeysPage } from '../account/passkeys-page.tsx';
import { SessionsPage } from '../account/sessions-page.tsx';
import { AiPage } from '../ai/ai-page.tsx';
import { AppLogPage } from '../app-settings/app-log.tsx';
import { AppPage } from '../app-settings/app-page.tsx';
import { AppsPage } from '../app-settings/apps-page.tsx';
import { InternetPage } from '../internet/internet-page.tsx';
import { NotificationsPage } from '../notifications/notifications-page.tsx';
import { SecretsPage } from '../secrets/secrets-page.tsx';
import { StoragePage } from '../storage/storage-page.tsx';
import { RunPage } from '../workflows/run-page.tsx';
import { RunsPage } from '../workflows/runs-page.tsx';
import { SETTINGS_PAGES } from './pages.ts';

export function Settings({ page }: { readonly page: SettingsPage }) {
  const area = 'appId' in page ? 'apps' : page.page;
  return (
    <div class="settings">
      <nav class="settings-nav" aria-label="Settings">
        <p class="settings-title">Settings</p>
        <ul>
          {SETTINGS_PAGES.map(({ page: target, icon, label }) => (
            <li key={target}>
              <a
                href={addressOf({ kind: 'settings', page: target })}
                aria-current={area === target ? 'page' : undefined}
              >
                <Icon name={icon} />
                <span>{label}</span>
              </a>
            </li>
          ))}
        </ul>
        <p class="settings-trust">
          <Icon name="shield" size={16} />
          <span>Part of the platform: no app can see or change these pages.</span>
        </p>
      </nav>
      <div class="settings-page">
        <Page page={page} />
      </div>
    </div>
  );
}

function Page({ page }: { readonly page: SettingsPage }) {
  if (page.page === 'app') return <AppPage key={page.appId} appId={page.appId} />;
  if (page.page === 'logs') return <AppLogPage key={page.appId} appId={page.appId} />;
  if (page.page === 'internet') return <InternetPage key={page.appId} appId={page.appId} />;
  if (page.page === 'workflows') return <RunsPage key={page.appId} appId={page.appId} />;
  if (page.page === 'workflow')
    return <RunPage key={page.workflowId} appId={page.appId} workflowId={page.workflowId} />;
  if (page.page === 'notifications') return <NotificationsPage />;
  if (page.page === 'passkeys') return <PasskeysPage />;
  if (page.page === 'sessions') return <SessionsPage />;
  if (page.page === 'command-line') return <CommandLinePage />;
  if (page.page === 'secrets') return <SecretsPage />;
  if (page.page === 'storage') return <StoragePage />;
  if (page.page === 'ai') return <AiPage />;
  if (page.page === 'account') return <AccountPage />;
  return <AppsPage />;
}

interface PageHeadProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The page one level up. */
  readonly up?: { readonly page: SettingsPage; readonly label: string };
}

/** Moves the focus to the heading of each page, for screen readers too. */
export function PageHead({ title, children, up }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <header class="page-head">
      {up !== undefined && (
        <a class="up" href={addressOf({ kind: 'settings', ...up.page })}>
          <Icon name="back" size={18} />
          {up.label}
        </a>
      )}
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </header>
  );
}
