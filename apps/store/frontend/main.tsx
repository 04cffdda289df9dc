// Store: what is published, one page for each app, and the request to install it, which the shell itself puts to the person.
import type { App, CatalogEntry, InstalledApp } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useOpened } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';
import type { StoreActions } from './actions.ts';
import { Catalog } from './catalog.tsx';
import { Detail } from './detail.tsx';
import { Icons } from './icons.ts';

startApp(Store);

const NO_APPS: ReadonlyMap<string, InstalledApp> = new Map();

function Store({ app }: { readonly app: App }) {
  const catalog = useLoaded(app, async () => {
    // Without pictures, which come as they are seen.
    const listed = (scope: 'catalog' | 'installed') => app.bridge.call('apps.list', { scope, icons: 'path' });
    const [catalog, apps] = await Promise.all([listed('catalog'), listed('installed')]);
    const [entries, installed] = [catalog.items as CatalogEntry[], apps.items as InstalledApp[]];
    return { entries, installed: new Map(installed.map((one) => [one.appId, one])) };
  });
  const [icons] = useState(() => new Icons(app));
  const [chosen, setChosen] = useOpened('chosen');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState<string>();

  // A link to one app, which finds unlisted ones too.
  useEffect(() => {
    const follow = (target: string | undefined) => {
      const linked = new URLSearchParams(target).get('app');
      if (linked !== null) setChosen(linked, 'link');
    };
    follow(app.context.target);
    return app.on('target', ({ target }) => follow(target));
  }, []);

  async function act(appId: string, work: () => Promise<unknown>): Promise<void> {
    setProblem(undefined);
    setBusy(appId);
    await work().catch((error: unknown) => setProblem(messageOf(error)));
    await catalog.reload();
    setBusy(undefined);
  }

  const { entries, installed = NO_APPS } = catalog.value ?? {};
  const actions: StoreActions = {
    busy,
    installed: (appId) => installed.get(appId),
    install: (appId, version) => void act(appId, () => app.apps.requestInstall(appId, version)),
    open: (appId) => void act(appId, () => app.apps.open(appId)),
    withdraw: (appId, version) => act(appId, () => app.bridge.call('apps.withdraw', { appId, version })),
    show: (appId) => setChosen(appId),
  };
  return (
    <main>
      {chosen === '' ? (
        <Catalog icons={icons} entries={entries} installed={[...installed.values()]} actions={actions} />
      ) : (
        <Detail
          key={chosen}
          app={app}
          icons={icons}
          appId={chosen}
          entry={entries?.find(({ appId }: CatalogEntry) => appId === chosen)}
          actions={actions}
          onBack={() => setChosen('')}
        />
      )}
      <Failure text={problem ?? catalog.failure} />
    </main>
  );
}
