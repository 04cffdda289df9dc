// One section of the home screen, under its title.

import type { InstalledApp } from '@platform/sdk/browser';
import type { Section } from '@platform/shell/arrange';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Tile, type TileActions } from './tile.tsx';
import type { Tiles } from './use-tiles.ts';

interface GridProps {
  readonly title: string;
  readonly section: Section;
  readonly apps: readonly InstalledApp[];
  readonly tiles: Tiles;
  readonly actions: TileActions;
}

export function Grid({ title, section, apps, tiles, actions }: GridProps) {
  const list = useRef<HTMLUListElement>(null);
  const height = useRef(0);
  const isDragging = actions.drag?.appId !== undefined;
  useLayoutEffect(() => {
    if (!isDragging) height.current = list.current?.offsetHeight ?? 0;
  });
  const grid = (
    // While a tile is dragged out of it, what is below stays where it is.
    <ul ref={list} class="plain grid" style={isDragging ? { minHeight: `${height.current}px` } : {}}>
      {apps.map((app, index) => (
        <Tile
          key={app.appId}
          app={app}
          place={{ section, index }}
          count={apps.length}
          pinnedCount={tiles.arranged.pinned.length}
          status={tiles.states.get(app.appId)}
          nameOf={tiles.nameOf}
          actions={actions}
        />
      ))}
    </ul>
  );
  return (
    <section data-section={section} aria-labelledby={`${section}-title`}>
      <h2 id={`${section}-title`}>{title}</h2>
      {grid}
    </section>
  );
}
