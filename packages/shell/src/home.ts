// Which app is the home screen. An app with the grant may take the place; the person can always take it back.
import { nameOf } from './frames/installed-apps.ts';
import { DEFAULT_HOME, homeApp } from './frames/open-apps.ts';
import { showToast } from './notifications/toasts.ts';
import { session } from './session/session.ts';

function key(): string {
  return session.value.kind === 'signed-in' ? `platform.home.${session.value.account.name}` : 'platform.home';
}

/** The choice stays in this browser, for this account. */
export function restoreHome(): void {
  homeApp.value = localStorage.getItem(key()) ?? DEFAULT_HOME;
}

export function setHome(appId: string): void {
  homeApp.value = appId;
  if (appId === DEFAULT_HOME) localStorage.removeItem(key());
  else localStorage.setItem(key(), appId);
}

/** An app asked to become the home screen; the message offers the way back. */
export function becomeHome(appId: string): void {
  const former = homeApp.value;
  if (former === appId) return;
  setHome(appId);
  showToast({
    title: `${nameOf(appId)} is now your home screen`,
    urgent: true,
    action: { label: `Keep ${nameOf(former)}`, run: () => setHome(former) },
  });
}
