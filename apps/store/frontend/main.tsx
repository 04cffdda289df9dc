// Store: what is published, one page for each app, and the request to install it, which the shell itself puts to the person.
import type { App, CatalogEntry, InstalledApp } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';
import type { StoreActions } from './actions.ts';
import { Catalog } from './catalog.tsx';
import { Detail } from './detail.tsx';

startApp(Store);

const NO_APPS: ReadonlyMap<string, InstalledApp> = new Map();

function Store({ app }: { readonly app: App }) {
  const catalog = useLoaded(app, async () => {
    const [entries, installed] = await Promise.all([app.apps.catalog(), app.apps.list()]);
    return { entries, installed: new Map(installed.map((one) => [one.appId, one])) };
  });
  const [chosen, setChosen] = useKept<string>('chosen', '');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState<string>();

  // A link to one app, which finds unlisted ones too.
  useEffect(() => {
    const follow = (target: string | undefined) => {
      const linked = new URLSearchParams(target).get('app');
      if (linked !== null) setChosen(linked);
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
        <Catalog entries={entries} installed={[...installed.values()]} actions={actions} />
      ) : (
        <Detail
          key={chosen}
          app={app}
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
