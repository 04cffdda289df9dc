// The bar of the trusted page: home, open apps, search, notifications, account. On a phone it is the dock at the bottom.
import type { AccountView } from '@platform/contract';
import { useEffect } from 'preact/hooks';
import { go, view } from '../../address/view.ts';
import { live } from '../../api/live.ts';
import { findOpen, frontApp, homeApp } from '../../apps/frames/open-apps.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Icon, Mark } from '../../design/icons.tsx';
import { unreadCount } from '../notifications/inbox.ts';
import { NotificationsButton } from '../notifications/panel.tsx';
import { Search } from '../search/search.tsx';
import { AccountButton } from './account-menu.tsx';
import { isBarShown, showBar } from './immersion.ts';
import { OpenAppsButton, OpenAppTabs } from './open-app-tabs.tsx';

function titleOfPage(): string {
  const unread = unreadCount.value > 0 ? `(${unreadCount.value > 99 ? '99+' : unreadCount.value}) ` : '';
  if (view.value.kind === 'settings') return `${unread}Settings · Platform`;
  const appId = frontApp.value;
  if (appId === null || appId === homeApp.value) return `${unread}Platform`;
  const title = findOpen(appId)?.title ?? '';
  return `${unread}${title === '' ? '' : `${title} · `}${nameOf(appId)} · Platform`;
}

export function Bar({ account }: { readonly account: AccountView }) {
  const title = titleOfPage();
  useEffect(() => {
    document.title = title;
  }, [title]);

  if (!isBarShown.value) {
    return (
      <button type="button" class="bar-handle" aria-label="Show the bar" onClick={showBar}>
        <Mark size={22} />
        <span>Show the bar</span>
      </button>
    );
  }
  const atHome = view.value.kind === 'home';
  return (
    <header class="bar">
      <button
        type="button"
        class="bar-button home"
        aria-label="Home"
        title="Home"
        aria-current={atHome ? 'page' : undefined}
        onClick={() => go({ kind: 'home' })}
      >
        <span class="on-desktop">
          <Mark size={28} />
        </span>
        <span class="on-phone">
          <Icon name="home" size={24} />
        </span>
      </button>
      <OpenAppTabs />
      <OpenAppsButton />
      <Search account={account.name} />
      <p class="bar-live" role="status">
        {live.value ? '' : 'Reconnecting …'}
      </p>
      <NotificationsButton />
      <AccountButton name={account.name} />
    </header>
  );
}
