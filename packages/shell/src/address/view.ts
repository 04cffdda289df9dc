// What the stage shows, kept in the address (`#/app/notes`), so that Back, reload and bookmarks work.
import { signal } from '@preact/signals';

export type SettingsPage =
  | { readonly page: 'apps' }
  | { readonly page: 'app'; readonly appId: string }
  | { readonly page: 'logs'; readonly appId: string }
  | { readonly page: 'internet'; readonly appId: string }
  | { readonly page: 'workflows'; readonly appId: string }
  | { readonly page: 'workflow'; readonly appId: string; readonly workflowId: string }
  | { readonly page: 'passkeys' }
  | { readonly page: 'sessions' }
  | { readonly page: 'command-line' }
  | { readonly page: 'notifications' }
  | { readonly page: 'secrets' }
  | { readonly page: 'storage' }
  | { readonly page: 'ai' }
  | { readonly page: 'account' };

export type View =
  | { readonly kind: 'home' }
  | { readonly kind: 'app'; readonly appId: string }
  | ({ readonly kind: 'settings' } & SettingsPage);

const ACCOUNT_PAGES = [
  'passkeys',
  'sessions',
  'command-line',
  'notifications',
  'secrets',
  'storage',
  'ai',
  'account',
] as const;
const WORKFLOW_ID = /^wf-[0-9a-f-]{36}$/;
const APP_ID = /^(?=.{3,40}$)[a-z0-9]+(-[a-z0-9]+)*$/;

/** The platform's own app of that name: its tile opens the pages of the shell, which no app can draw. */
export const SETTINGS_APP = 'settings';

/** An address this page does not know leads home. */
export function readView(hash: string): View {
  const [area, first, second, third, fourth] = hash.replace(/^#\/?/, '').split('/');
  if (area === 'app' && first === SETTINGS_APP) return { kind: 'settings', page: 'apps' };
  if (area === 'app' && first !== undefined && APP_ID.test(first)) return { kind: 'app', appId: first };
  if (area !== 'settings') return { kind: 'home' };
  const page = ACCOUNT_PAGES.find((known) => known === first);
  if (page !== undefined) return { kind: 'settings', page };
  if (first === 'apps' && second !== undefined && APP_ID.test(second)) {
    if (third === 'workflows' && fourth !== undefined && WORKFLOW_ID.test(fourth))
      return { kind: 'settings', page: 'workflow', appId: second, workflowId: fourth };
    if (third === 'workflows') return { kind: 'settings', page: 'workflows', appId: second };
    if (third === 'internet') return { kind: 'settings', page: 'internet', appId: second };
    return { kind: 'settings', page: third === 'log' ? 'logs' : 'app', appId: second };
  }
  return { kind: 'settings', page: 'apps' };
}

export function addressOf(view: View): string {
  if (view.kind === 'home') return '#/';
  if (view.kind === 'app') return `#/app/${view.appId}`;
  if (view.page === 'app') return `#/settings/apps/${view.appId}`;
  if (view.page === 'logs') return `#/settings/apps/${view.appId}/log`;
  if (view.page === 'internet') return `#/settings/apps/${view.appId}/internet`;
  if (view.page === 'workflows') return `#/settings/apps/${view.appId}/workflows`;
  if (view.page === 'workflow') return `#/settings/apps/${view.appId}/workflows/${view.workflowId}`;
  return `#/settings/${view.page}`;
}

const STORE_ADDRESS = /^#\/store\/((?=.{3,40}$)[a-z0-9]+(?:-[a-z0-9]+)*)$/;

/** Of an app's page in the Store (store-address.ts). */
export function storeAddress(appId: string): string {
  return `#/store/${appId}`;
}

/** The app in an address; `null` for every other address. */
export function readStoreAddress(hash: string): string | null {
  return STORE_ADDRESS.exec(hash)?.[1] ?? null;
}

export const view = signal<View>({ kind: 'home' });

export function go(next: View): void {
  view.value = next;
  if (location.hash !== addressOf(next)) location.hash = addressOf(next);
}

/** Takes the view from the address, now and whenever it changes. */
export function followAddress(): void {
  const read = () => {
    view.value = readView(location.hash);
  };
  window.addEventListener('hashchange', read);
  read();
}
