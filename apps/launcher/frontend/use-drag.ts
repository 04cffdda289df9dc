// Dragging a tile: with the mouse at once, with a finger after a long press, so that the page still scrolls under it.

import type { InstalledApp } from '@platform/sdk/browser';
import { type Arranged, allTiles, arrange, moveTile, type Section, sectionOf } from '@platform/shell/arrange';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Place, Tiles } from './use-tiles.ts';

/** Pixels that a mouse moves before it drags, and that a finger may move before its press is long. */
const SLACK = 6;
const LONG_PRESS_MS = 350;

export interface Drag {
  /** The app that is dragged. */
  readonly appId: string | undefined;
  /** The tiles as they would be if it were let go here. */
  readonly preview: Arranged<InstalledApp> | undefined;
  readonly begin: (event: PointerEvent, app: InstalledApp) => void;
  /** Whether the press that comes now is the end of a drag. */
  readonly justEnded: () => boolean;
}

export function useDrag(tiles: Tiles): Drag {
  const [dragged, setDragged] = useState<{ readonly app: InstalledApp; readonly to: Place }>();
  const latest = useRef(tiles);
  latest.current = tiles;
  const ended = useRef(false);
  const stop = useRef<() => void>(() => undefined);
  useEffect(() => () => stop.current(), []);

  function begin({ pointerId, pointerType, button, clientX, clientY }: PointerEvent, app: InstalledApp): void {
    if (button !== 0) return;
    stop.current();
    ended.current = false;
    const isTouch = pointerType !== 'mouse';
    const end = new AbortController();
    const { signal } = end;
    let to: Place | undefined;
    const show = (place: Place) => {
      to = place;
      setDragged({ app, to: place });
    };
    const lift = () => show(placeOf(latest.current.arranged, app));
    const timer = isTouch ? setTimeout(lift, LONG_PRESS_MS) : undefined;
    const finish = (keep: boolean) => {
      clearTimeout(timer);
      end.abort();
      setDragged(undefined);
      if (to === undefined) return;
      // The browser reports the end of the drag as a press on the tile.
      ended.current = true;
      setTimeout(() => (ended.current = false), 0);
      if (keep) latest.current.move(app, to);
    };
    stop.current = () => finish(false);

    const onMove = (event: PointerEvent) => {
      if (event.pointerId !== pointerId) return;
      const isFar = Math.hypot(event.clientX - clientX, event.clientY - clientY) > SLACK;
      if (to === undefined && isFar) {
        if (isTouch) finish(false);
        else lift();
      }
      if (to === undefined) return;
      const place = placeAt(event.clientX, event.clientY, app);
      if (place !== undefined && (place.section !== to.section || place.index !== to.index)) show(place);
    };
    document.addEventListener('pointermove', onMove, { signal });
    const onUp = (event: PointerEvent) => {
      if (event.pointerId !== pointerId) return;
      // The tiles may have moved under the pointer since it did.
      if (to !== undefined) onMove(event);
      finish(true);
    };
    document.addEventListener('pointerup', onUp, { signal });
    document.addEventListener('pointercancel', (event) => event.pointerId === pointerId && finish(false), { signal });
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && finish(false), { signal });
    // A finger that holds a tile does not scroll.
    document.addEventListener('touchmove', (event) => to !== undefined && event.preventDefault(), {
      signal,
      passive: false,
    });
  }

  return {
    appId: dragged?.app.appId,
    preview: dragged === undefined ? undefined : previewOf(tiles, dragged.app, dragged.to),
    begin,
    justEnded: () => ended.current,
  };
}

function previewOf({ arranged }: Tiles, { appId }: InstalledApp, to: Place): Arranged<InstalledApp> {
  // The first pin is shown once it is let go: a section that appears would move every other tile.
  if (to.section === 'pinned' && arranged.pinned.length === 0) return arranged;
  return arrange(allTiles(arranged), moveTile(arranged, appId, to));
}

function placeOf(arranged: Arranged<InstalledApp>, app: InstalledApp): Place {
  const indexIn = (section: Section) => arranged[section].findIndex(({ appId }) => appId === app.appId);
  const at = indexIn('pinned');
  return at >= 0 ? { section: 'pinned', index: at } : { section: sectionOf(app), index: indexIn(sectionOf(app)) };
}

/**
 * The place of the tile under the pointer; the end of a section beside its tiles. `undefined`: it stays where it is, also
 * over a section that is not for it.
 */
function placeAt(x: number, y: number, app: InstalledApp): Place | undefined {
  const under = document.elementFromPoint(x, y);
  const section = under?.closest<HTMLElement>('[data-section]');
  if (section == null) return undefined;
  // Written by grid.tsx.
  const name = section.dataset.section as Section;
  if (name !== 'pinned' && name !== sectionOf(app)) return undefined;
  const tiles = [...section.querySelectorAll<HTMLElement>('[data-app]')];
  const tile = under?.closest<HTMLElement>('[data-app]');
  if (tile?.dataset.app === app.appId) return undefined;
  const others = tiles.filter(({ dataset }) => dataset.app !== app.appId);
  if (tile == null) return others.length === tiles.length ? { section: name, index: others.length } : undefined;
  return { section: name, index: tiles.indexOf(tile) };
}
