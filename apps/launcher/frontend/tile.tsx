// One app on the home screen: its picture and name, what is the matter with it, and a menu of what can be done with it.

import type { InstalledApp, WorkloadStatus } from '@platform/sdk/browser';
import { sectionOf } from '@platform/shell/arrange';
import { needsPerson, stoppedWords } from '@platform/shell/stopped-words';
import { useRef } from 'preact/hooks';
import { AppIcon } from '../../shared/app-icon.tsx';
import type { Drag } from './use-drag.ts';
import type { Place } from './use-tiles.ts';

export interface TileActions {
  readonly open: (appId: string) => void;
  /** Starts the backend. */
  readonly start: (appId: string) => void;
  /** These two are absent where the tiles cannot be arranged. */
  readonly move: ((app: InstalledApp, to: Place) => void) | undefined;
  readonly drag: Drag | undefined;
}

interface TileProps {
  readonly app: InstalledApp;
  readonly place: Place;
  /** Of its section. */
  readonly count: number;
  readonly pinnedCount: number;
  readonly status: WorkloadStatus | undefined;
  readonly nameOf: (appId: string) => string;
  readonly actions: TileActions;
}

interface Mark {
  readonly text: string;
  readonly tone: '' | 'good' | 'warn' | 'danger';
  /** What follows the text, for screen readers and as a tooltip. */
  readonly more: string;
}

function markOf(app: InstalledApp, status: WorkloadStatus | undefined, nameOf: TileProps['nameOf']): Mark | undefined {
  const update = app.upgrade === null ? undefined : ({ text: 'Update', tone: 'good', more: ' available' } as const);
  if (status === undefined || !needsPerson(status)) return update;
  if (status.state === 'failed') return { text: 'Failed', tone: 'danger', more: `: ${status.reason ?? ''}` };
  return { text: 'Stopped', tone: 'warn', more: `: ${stoppedWords(status.stoppedBy, nameOf)}` };
}

export function Tile({ app, place, count, pinnedCount, status, nameOf, actions }: TileProps) {
  const { appId, name, icon } = app;
  const { move, drag } = actions;
  const mark = markOf(app, status, nameOf);
  const by = (step: 1 | -1) => {
    const index = place.index + step;
    if (index >= 0 && index < count) move?.(app, { section: place.section, index });
  };
  return (
    <li
      data-app={appId}
      class={drag?.appId === appId ? 'tile dragged' : 'tile'}
      onPointerDown={(event) => drag?.begin(event, app)}
      onContextMenu={(event) => drag?.appId === appId && event.preventDefault()}
    >
      <button
        type="button"
        class="tile-open"
        title={mark === undefined ? name : `${name}: ${mark.text}${mark.more}`}
        aria-keyshortcuts={move === undefined ? undefined : 'Shift+ArrowLeft Shift+ArrowRight'}
        onClick={() => {
          if (drag?.justEnded() !== true) actions.open(appId);
        }}
        onKeyDown={(event) => {
          if (!event.shiftKey || !(event.key === 'ArrowLeft' || event.key === 'ArrowRight')) return;
          event.preventDefault();
          by(event.key === 'ArrowLeft' ? -1 : 1);
        }}
      >
        <AppIcon appId={appId} name={name} icon={icon} large />
        <span class="tile-name">
          <span>{name}</span>
          {mark !== undefined && <span class="only-read">,</span>}
        </span>
        {mark !== undefined && (
          <span class={`badge ${mark.tone}`}>
            {mark.text}
            <span class="only-read">{mark.more}</span>
          </span>
        )}
      </button>
      {move !== undefined && (
        <Menu appId={appId} name={name}>
          {(mark?.tone === 'warn' || mark?.tone === 'danger') && (
            <MenuItem onPress={() => actions.start(appId)}>{mark.tone === 'danger' ? 'Start again' : 'Start'}</MenuItem>
          )}
          {place.section === 'pinned' ? (
            <MenuItem onPress={() => move(app, { section: sectionOf(app), index: 0 })}>Unpin</MenuItem>
          ) : (
            <MenuItem onPress={() => move(app, { section: 'pinned', index: pinnedCount })}>Pin to the top</MenuItem>
          )}
          {place.index > 0 && <MenuItem onPress={() => by(-1)}>Move left</MenuItem>}
          {place.index < count - 1 && <MenuItem onPress={() => by(1)}>Move right</MenuItem>}
        </Menu>
      )}
    </li>
  );
}

interface MenuProps {
  readonly appId: string;
  readonly name: string;
  readonly children: preact.ComponentChildren;
}

function Menu({ appId, name, children }: MenuProps) {
  const panel = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = `menu-${appId}`;
  return (
    <>
      <button
        ref={button}
        type="button"
        class="tile-menu"
        popovertarget={id}
        aria-label={`Options of ${name}`}
        onPointerDown={(event) => event.stopPropagation()}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: presses on the buttons in it close it. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above; keys press the buttons. */}
      <div
        ref={panel}
        id={id}
        class="card menu"
        popover="auto"
        onPointerDown={(event) => event.stopPropagation()}
        onToggle={({ newState }) => newState === 'open' && placeAt(panel.current, button.current)}
        onClick={() => panel.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  );
}

/** Below its button, within the frame. */
function placeAt(panel: HTMLElement | null, button: HTMLElement | null): void {
  if (panel === null || button === null) return;
  const { bottom, top, right } = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = panel;
  panel.style.left = `${Math.max(8, Math.min(right - offsetWidth, innerWidth - offsetWidth - 8))}px`;
  panel.style.top = `${bottom + offsetHeight + 8 < innerHeight ? bottom + 4 : Math.max(8, top - offsetHeight - 4)}px`;
}

function MenuItem({
  onPress,
  children,
}: {
  readonly onPress: () => void;
  readonly children: preact.ComponentChildren;
}) {
  return (
    <button type="button" onClick={onPress}>
      {children}
    </button>
  );
}
