// One section of the home screen: under its title, or for what does nothing yet folded away behind it.

import type { InstalledApp } from '@platform/sdk/browser';
import type { Section } from '@platform/shell/arrange';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useKept } from '../../shared/kept.ts';
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
  if (section === 'later') return <Folded title={title}>{grid}</Folded>;
  return (
    <section data-section={section} aria-labelledby={`${section}-title`}>
      <h2 id={`${section}-title`}>{title}</h2>
      {grid}
    </section>
  );
}

function Folded({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useKept<boolean>('later', false);
  return (
    <details
      data-section="later"
      class="later"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open !== isOpen && setOpen(currentTarget.open)}
    >
      <summary>{title}</summary>
      {children}
    </details>
  );
}
