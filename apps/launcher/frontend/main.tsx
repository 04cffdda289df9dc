// Launcher: the home screen. Every installed app one press away, in the order that the person gave them, and where to
// start when there is none of one's own.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { Grid } from './grid.tsx';
import type { TileActions } from './tile.tsx';
import { useDrag } from './use-drag.ts';
import { useTiles } from './use-tiles.ts';

startApp(Home);

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
  const { pinned, rest } = drag.preview ?? tiles.arranged;
  const all = [...pinned, ...rest];
  const hasOwn = all.some(({ system }) => !system);
  return (
    <main>
      <h1>{app.context.accountName === undefined ? 'Home' : `Welcome, ${app.context.accountName}`}</h1>
      <Failure text={problem ?? tiles.failure} />
      <p class="only-read" role="status">
        {tiles.said}
      </p>
      {tiles.loaded && !hasOwn && <StartHere hasStore={all.some(({ appId }) => appId === 'store')} {...actions} />}
      {drag.preview !== undefined && tiles.arranged.pinned.length === 0 && (
        // Over the page: nothing may move away from under the pointer.
        <p class="pin-here" data-section="pinned">
          Drop it here to pin it
        </p>
      )}
      {(pinned.length > 0 || tiles.arranged.pinned.length > 0) && (
        <Grid title="Pinned" section="pinned" apps={pinned} tiles={tiles} actions={actions} />
      )}
      {rest.length > 0 && <Grid title="Apps" section="rest" apps={rest} tiles={tiles} actions={actions} />}
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
