// The open apps: tabs on a wide screen, which scroll where there are many, and a list of all of them behind one button: beside
// tabs that scroll, and on a phone.
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { view } from '../../address/view.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { closeApp, frontApp, homeApp, type OpenApp, openApp, openApps } from '../../apps/frames/open-apps.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Empty } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { type Direction, onEntryKeys } from './entry-keys.ts';

/** Whether there are more tabs than room for them. */
const tabsOverflow = signal(false);

function withoutHome(): readonly OpenApp[] {
  return openApps.value.filter(({ appId }) => appId !== homeApp.value);
}

interface EntryProps {
  readonly open: OpenApp;
  readonly onChosen?: () => void;
}

function OpenAppEntry({ open, onChosen }: EntryProps) {
  const name = nameOf(open.appId);
  const isFront = frontApp.value === open.appId;
  return (
    <li data-open-app={open.appId} class={isFront ? 'tab front' : 'tab'}>
      <button
        type="button"
        class="tab-open"
        aria-current={isFront ? 'page' : undefined}
        title={open.title === '' ? name : `${name}: ${open.title}`}
        onClick={() => {
          openApp(open.appId);
          onChosen?.();
        }}
      >
        <AppPicture appId={open.appId} name={name} path={findApp(open.appId)?.icon ?? null} size="small" />
        <span class="tab-name">
          {name}
          {open.title !== '' && <span class="tab-title"> · {open.title}</span>}
        </span>
      </button>
      <button
        type="button"
        class="tab-close"
        aria-label={`Close ${name}`}
        title={`Close ${name}`}
        onClick={() => closeApp(open.appId)}
      >
        <Icon name="close" size={16} />
      </button>
    </li>
  );
}

function keysOf(direction: Direction): ReturnType<typeof onEntryKeys> {
  return onEntryKeys(direction, { entry: '[data-open-app]', control: '.tab-open', close: '.tab-close' });
}

const stripKeys = keysOf('across');
const listKeys = keysOf('down');

/** Keeps the tab of the app in front in sight, and says whether all have room. */
function useStrip(): RefObject<HTMLUListElement | null> {
  const strip = useRef<HTMLUListElement>(null);
  const opened = withoutHome().length;
  const front = frontApp.value;
  const look = () => {
    const list = strip.current;
    if (list === null) return;
    tabsOverflow.value = list.scrollWidth > list.clientWidth + 1;
    list.querySelector('.front')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  useLayoutEffect(look, [front, opened]);
  useEffect(() => {
    if (strip.current === null) return;
    const observer = new ResizeObserver(look);
    observer.observe(strip.current);
    return () => observer.disconnect();
  }, []);
  return strip;
}

/** A wheel that turns one way only scrolls the tabs too. */
function scrollAcross(event: WheelEvent & { readonly currentTarget: HTMLUListElement }): void {
  if (event.deltaX !== 0 || event.shiftKey) return;
  event.currentTarget.scrollLeft += event.deltaY;
}

export function OpenAppTabs() {
  const strip = useStrip();
  return (
    <nav class="tabs on-desktop" aria-label="Open apps">
      <ul ref={strip} onKeyDown={stripKeys} onWheel={scrollAcross}>
        {withoutHome().map((open) => (
          <OpenAppEntry key={open.appId} open={open} />
        ))}
      </ul>
    </nav>
  );
}

/** On a phone, over the button: the dock has no room for more. Beside it, so that its letter is no part of the button's name. */
function FrontPicture() {
  const front = view.value.kind === 'app' ? view.value.appId : null;
  if (front === null || front === homeApp.value || findApp(front) === undefined) return null;
  return (
    <span class="front-picture on-phone" aria-hidden="true">
      <AppPicture appId={front} name={nameOf(front)} path={findApp(front)?.icon ?? null} size="small" />
    </span>
  );
}

export function OpenAppsButton() {
  const panel = useRef<HTMLElement>(null);
  const opened = withoutHome();
  const count = opened.length;
  return (
    <div class={tabsOverflow.value ? 'open-apps' : 'open-apps on-phone'}>
      <button
        type="button"
        class="bar-button"
        popovertarget="open-apps"
        aria-label={count === 0 ? 'Open apps' : `Open apps, ${count}`}
        title="Open apps"
      >
        <Icon name="windows" size={24} />
        {count > 0 && (
          <span class="badge calm" aria-hidden="true">
            {count}
          </span>
        )}
      </button>
      <FrontPicture />
      <nav
        id="open-apps"
        ref={panel}
        class="panel"
        popover="auto"
        aria-label="All open apps"
        onToggle={({ newState }) => {
          if (newState !== 'open') return;
          const entry = panel.current?.querySelector('.front') ?? panel.current?.querySelector('.tab');
          entry?.scrollIntoView({ block: 'nearest' });
          entry?.querySelector<HTMLElement>('.tab-open')?.focus();
        }}
      >
        <h2>Open apps</h2>
        {count === 0 ? (
          <Empty icon="windows" title="No app is open">
            Go home and choose one. It stays open here until you close it.
          </Empty>
        ) : (
          <ul class="open-list" onKeyDown={listKeys}>
            {opened.map((open) => (
              <OpenAppEntry key={open.appId} open={open} onChosen={() => panel.current?.hidePopover()} />
            ))}
          </ul>
        )}
      </nav>
    </div>
  );
}
