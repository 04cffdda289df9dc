// What the stage shows, kept in the address (`#/app/notes`), so that Back, reload and bookmarks work.
import { signal } from '@preact/signals';
import type { SettingsPath } from '../desk/settings/pages.ts';

export type View =
  | { readonly kind: 'home' }
  | { readonly kind: 'app'; readonly appId: string }
  /** `path` as in the address, such as `apps/notes/log`; Settings say which page that is (desk/settings/find-page.ts). */
  | { readonly kind: 'settings'; readonly path: string };

/** The parameters in a path: `{ appId }` of `apps/:appId/log`. */
export type PathParams<Path extends string> = Path extends `${infer Head}/${infer Rest}`
  ? PathParams<Head> & PathParams<Rest>
  : Path extends `:${infer Name}`
    ? { readonly [Each in Name]: string }
    : unknown;

type Arguments<Path extends string> = Path extends `${string}:${string}` ? [params: PathParams<Path>] : [];

/** A page of Settings by the path that it registered: `settingsAt('apps/:appId/log', { appId })`. */
export function settingsAt<Path extends SettingsPath>(path: Path, ...[params]: Arguments<Path>): View {
  const values: Readonly<Record<string, string>> = { ...params };
  return { kind: 'settings', path: path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '') };
}

export const APP_ID = /^(?=.{3,40}$)[a-z0-9]+(-[a-z0-9]+)*$/;

/** The platform's own app of that name: its tile opens the pages of the shell, which no app can draw. */
export const SETTINGS_APP = 'settings';

/** An address this page does not know leads home. */
export function readView(hash: string): View {
  const [area, first, ...rest] = hash.replace(/^#\/?/, '').split('/');
  if (area === 'app' && first === SETTINGS_APP) return settingsAt('apps');
  if (area === 'app' && first !== undefined && APP_ID.test(first)) return { kind: 'app', appId: first };
  if (area === 'settings') return { kind: 'settings', path: [first ?? '', ...rest].join('/') };
  return { kind: 'home' };
}

export function addressOf(view: View): string {
  if (view.kind === 'home') return '#/';
  return view.kind === 'app' ? `#/app/${view.appId}` : `#/settings/${view.path}`;
}

const STORE_ADDRESS = /^#\/store\/((?=.{3,40}$)[a-z0-9]+(?:-[a-z0-9]+)*)$/;

/** Of an app's page in the Store (desk/store-address.ts). */
export function storeAddress(appId: string): string {
  return `#/store/${appId}`;
}

/** The same page as a place in the Store. */
export function storeTarget(appId: string): string {
  return `?app=${appId}`;
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
