// Launcher: the home screen. Every installed app in the order that the person gave them, the parts of the platform apart
// from their own, and where to start before they have any.
import type { App } from '@platform/sdk/browser';
import { allTiles } from '@platform/shell/arrange';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { Grid } from './grid.tsx';
import type { TileActions } from './tile.tsx';
import { useDrag } from './use-drag.ts';
import { useTiles } from './use-tiles.ts';

startApp(Home);

const SECTIONS = [
  ['pinned', 'Pinned'],
  ['rest', 'Your apps'],
  ['parts', 'Platform'],
] as const;

function Home({ app }: { readonly app: App }) {
  const tiles = useTiles(app);
  const [problem, setProblem] = useState<string>();
  const drag = useDrag(tiles);
  const act = (work: () => Promise<unknown>) => {
    setProblem(undefined);
    work().catch((error: unknown) => setProblem(messageOf(error)));
  };
  const actions: TileActions = {
    open: (appId) => act(() => app.apps.open(appId)),
    start: (appId) => act(() => app.apps.start(appId).then(tiles.reload)),
    move: tiles.mayArrange ? tiles.move : undefined,
    drag: tiles.mayArrange ? drag : undefined,
  };
  const shown = drag.preview ?? tiles.arranged;
  const hasStore = allTiles(shown).some(({ appId }) => appId === 'store');
  return (
    <main>
      <h1>{app.context.accountName === undefined ? 'Home' : `Welcome, ${app.context.accountName}`}</h1>
      <Failure text={problem ?? tiles.failure} />
      <p class="only-read" role="status">
        {tiles.said}
      </p>
      {tiles.atTheBeginning && <StartHere hasStore={hasStore} {...actions} />}
      {drag.preview !== undefined && tiles.arranged.pinned.length === 0 && (
        // Over the page: nothing may move away from under the pointer.
        <p class="pin-here" data-section="pinned">
          Drop it here to pin it
        </p>
      )}
      {SECTIONS.map(([section, title]) => {
        // An emptied section stays while something is dragged: it may come back.
        const isThere = shown[section].length > 0 || tiles.arranged[section].length > 0;
        return (
          isThere && (
            <Grid key={section} title={title} section={section} apps={shown[section]} tiles={tiles} actions={actions} />
          )
        );
      })}
    </main>
  );
}

function StartHere({ hasStore, open }: { readonly hasStore: boolean } & Pick<TileActions, 'open'>) {
  return (
    <section class="card first row between appears">
      <div class="grow">
        <h2>Start here</h2>
        <p class="quiet">
          {hasStore
            ? 'Install your first app from the Store. Before you install an app, you see what it may do.'
            : 'Store was removed. To install apps, install it again in Settings.'}
        </p>
      </div>
      <button type="button" class="primary" onClick={() => open(hasStore ? 'store' : 'settings')}>
        {hasStore ? 'Open the Store' : 'Open Settings'}
      </button>
    </section>
  );
}
