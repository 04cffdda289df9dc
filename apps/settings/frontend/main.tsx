// Settings: the account, its apps and their state. What decides about trust opens in the shell's own surfaces.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';
import { AppRow } from './app-row.tsx';

startApp(Settings);

/** The pages of the account, which the shell draws. */
const PAGES = [
  ['passkeys', 'Passkeys'],
  ['sessions', 'Sessions'],
  ['notifications', 'Notifications'],
  ['storage', 'Storage'],
  ['ai', 'AI'],
] as const;

function Settings({ app }: { readonly app: App }) {
  const apps = useLoaded(app, async () => {
    const [installed, status] = await Promise.all([app.apps.list(), app.bridge.call('runtime.status', {})]);
    const states = new Map(status.items.map((item) => [item.appId, item.status]));
    // What the person chose to install comes first.
    const sorted = [...installed].sort((one, other) => Number(one.system) - Number(other.system));
    return sorted.map((item) => ({ item, status: states.get(item.appId) }));
  });
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState<string>();

  async function act(what: string, work: () => Promise<unknown>): Promise<void> {
    setProblem(undefined);
    setBusy(what);
    await work().catch((error: unknown) => setProblem(messageOf(error)));
    await apps.reload();
    setBusy(undefined);
  }
  const show = (
    surface: 'permissions' | 'passkeys' | 'sessions' | 'notifications' | 'storage' | 'ai' | 'logs',
    appId?: string,
  ) => void act(surface, () => app.bridge.call('chrome.set', appId === undefined ? { surface } : { surface, appId }));

  return (
    <main>
      <h1>Settings</h1>
      <Failure text={problem ?? apps.failure} />
      <section aria-labelledby="account">
        <h2 id="account">Account</h2>
        <div class="card row between">
          <p class="grow">
            Signed in as <strong>{app.context.accountName ?? 'an account (this app may not see its name)'}</strong>
          </p>
          <div class="row">
            {PAGES.map(([page, title]) => (
              <button key={page} type="button" onClick={() => show(page)}>
                {title}
              </button>
            ))}
          </div>
        </div>
      </section>
      <section aria-labelledby="apps">
        <h2 id="apps">Apps</h2>
        <ul class="plain apps">
          {(apps.value ?? []).map(({ item, status }) => (
            <li key={item.appId}>
              <AppRow
                item={item}
                status={status}
                busy={busy === item.appId}
                onPermissions={() => show('permissions', item.appId)}
                onLog={() => show('logs', item.appId)}
                onStart={() => void act(item.appId, () => app.apps.start(item.appId))}
                onStop={() => void act(item.appId, () => app.apps.stop(item.appId))}
                onUpdate={(version) => void act(item.appId, () => app.apps.requestInstall(item.appId, version))}
                onRemove={() => void act(item.appId, () => app.apps.uninstall(item.appId))}
              />
            </li>
          ))}
        </ul>
      </section>
    </main>
  );
}
