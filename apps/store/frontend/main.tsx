// Store: what is published, one page for each app, and the request to install it, which the shell itself puts to the person.
import type { App, CatalogEntry } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';
import { Catalog } from './catalog.tsx';
import { Detail } from './detail.tsx';

startApp(Store);

function Store({ app }: { readonly app: App }) {
  const catalog = useLoaded(app, async () => {
    const [entries, installed] = await Promise.all([app.apps.catalog(), app.apps.list()]);
    return { entries, installed: new Set(installed.map(({ appId }) => appId)) };
  });
  const [chosen, setChosen] = useKept<string>('chosen', '');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState<string>();

  async function act(appId: string, work: () => Promise<unknown>): Promise<void> {
    setProblem(undefined);
    setBusy(appId);
    await work().catch((error: unknown) => setProblem(messageOf(error)));
    await catalog.reload();
    setBusy(undefined);
  }

  const { entries = [], installed = new Set<string>() } = catalog.value ?? {};
  const actions = {
    busy,
    isInstalled: ({ appId }: CatalogEntry) => installed.has(appId),
    install: ({ appId }: CatalogEntry) => void act(appId, () => app.apps.requestInstall(appId)),
    open: ({ appId }: CatalogEntry) => void act(appId, () => app.apps.open(appId)),
    show: ({ appId }: CatalogEntry) => setChosen(appId),
  };
  const entry = entries.find(({ appId }) => appId === chosen);
  return (
    <main>
      {entry === undefined ? (
        <Catalog entries={entries} loaded={catalog.value !== undefined} actions={actions} />
      ) : (
        <Detail entry={entry} actions={actions} onBack={() => setChosen('')} />
      )}
      <Failure text={problem ?? catalog.failure} />
    </main>
  );
}
