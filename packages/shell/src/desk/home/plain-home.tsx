// Home without an app that draws it: every app is a press away, and so is the way back.
import { useEffect } from 'preact/hooks';
import { useAction } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { allTiles, arrange, UNARRANGED } from '../../apps/arrange.ts';
import { essentialApp } from '../../apps/essential-apps.ts';
import { DEFAULT_HOME, openApp } from '../../apps/frames/open-apps.ts';
import { installedApps } from '../../apps/installed-apps.ts';
import { Button, Empty, Note } from '../../design/controls.tsx';
import { askToInstall } from '../prompts/ask-to-install.ts';
import { homeTiles, readHomeTiles } from './home-tiles.ts';

export function PlainHome() {
  // Without them the tiles are in the order of their names.
  useEffect(() => void readHomeTiles().catch(() => undefined), []);
  const apps = (installedApps.value ?? []).filter(({ hasFrontend }) => hasFrontend);
  const tiles = allTiles(arrange(apps, homeTiles.value ?? UNARRANGED));
  return (
    <div class="plain-home">
      <h2>Your apps</h2>
      <p class="quiet-text">Launcher, your home screen, was removed.</p>
      <InstallAgain appId={DEFAULT_HOME} />
      {apps.length === 0 ? (
        <Empty icon="apps" title="No apps are installed">
          Install Launcher and Store again in Settings → Apps.
        </Empty>
      ) : (
        <ul class="tiles">
          {tiles.map((app) => (
            <li key={app.appId}>
              <button type="button" class="tile" onClick={() => openApp(app.appId)}>
                <AppPicture appId={app.appId} name={app.name} path={app.icon} size="large" />
                <span>{app.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Puts the review of one of the platform's own apps before the person. */
export function InstallAgain({ appId }: { readonly appId: string }) {
  const { failure, busy, run } = useAction();
  return (
    <>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <div class="buttons">
        <Button kind="primary" icon="plus" busy={busy} onClick={() => void run(() => askToInstall(appId, null, null))}>
          Install {essentialApp(appId)?.name ?? appId} again
        </Button>
      </div>
    </>
  );
}
