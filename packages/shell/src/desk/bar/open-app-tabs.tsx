// The open apps: tabs on a wide screen, one button with a list on a phone.
import { useRef } from 'preact/hooks';
import { AppPicture } from '../../apps/app-picture.tsx';
import { closeApp, frontApp, homeApp, type OpenApp, openApp, openApps } from '../../apps/frames/open-apps.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Empty } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';

function withoutHome(): readonly OpenApp[] {
  return openApps.value.filter(({ appId }) => appId !== homeApp.value);
}

function OpenAppEntry({ open, onChosen }: { readonly open: OpenApp; readonly onChosen?: () => void }) {
  const name = nameOf(open.appId);
  return (
    <>
      <button
        type="button"
        class="tab-open"
        aria-current={frontApp.value === open.appId ? 'page' : undefined}
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
    </>
  );
}

export function OpenAppTabs() {
  return (
    <nav class="tabs on-desktop" aria-label="Open apps">
      <ul>
        {withoutHome().map((open) => (
          <li key={open.appId} class={frontApp.value === open.appId ? 'tab front' : 'tab'}>
            <OpenAppEntry open={open} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function OpenAppsButton({ count }: { readonly count: number }) {
  const panel = useRef<HTMLElement>(null);
  const opened = withoutHome();
  return (
    <>
      <button
        type="button"
        class="bar-button on-phone"
        popovertarget="open-apps"
        aria-label={count === 0 ? 'Open apps' : `Open apps, ${count}`}
      >
        <Icon name="windows" size={24} />
        {count > 0 && (
          <span class="badge calm" aria-hidden="true">
            {count}
          </span>
        )}
      </button>
      <nav id="open-apps" ref={panel} class="panel" popover="auto" aria-label="Open apps">
        <h2>Open apps</h2>
        {opened.length === 0 ? (
          <Empty icon="windows" title="No app is open">
            Go home and choose one. It stays open here until you close it.
          </Empty>
        ) : (
          <ul class="open-list">
            {opened.map((open) => (
              <li key={open.appId} class={frontApp.value === open.appId ? 'tab front' : 'tab'}>
                <OpenAppEntry open={open} onChosen={() => panel.current?.hidePopover()} />
              </li>
            ))}
          </ul>
        )}
      </nav>
    </>
  );
}
