// Every installed app, and the way back for one of the platform's own that was removed.
import { AppPicture, Button, Empty, Note } from '../design/controls.tsx';
import { Icon } from '../design/icons.tsx';
import { AppsNotListed } from '../frames/apps-not-listed.tsx';
import { installedApps } from '../frames/installed-apps.ts';
import { askToInstall } from '../prompts/prompts.ts';
import { addressOf } from '../view.ts';
import { useAction } from './reading.ts';
import { PageHead } from './settings.tsx';

/** Without these two a person could neither see nor install apps. */
const ESSENTIAL = [
  { appId: 'launcher', name: 'Launcher' },
  { appId: 'store', name: 'Store' },
] as const;

export function AppsPage() {
  const apps = installedApps.value;
  return (
    <>
      <PageHead title="Apps">
        <p class="quiet-text">Choose an app to see its permissions and backend, or to remove it.</p>
      </PageHead>
      {apps === null ? (
        <AppsNotListed lines={5} label="Loading your apps" />
      ) : apps.length === 0 ? (
        <Empty icon="apps" title="No apps are installed" />
      ) : (
        <ul class="rows">
          {apps.map((app) => (
            <li key={app.appId}>
              <a class="row" href={addressOf({ kind: 'settings', page: 'app', appId: app.appId })}>
                <AppPicture name={app.name} path={app.icon} />
                <span class="row-text">
                  <span class="row-title">
                    {app.name}
                    {app.upgrade !== null && <span class="tag accent">Update available</span>}
                    {app.hasUnreviewedWorkload && <span class="tag accent">Backend to review</span>}
                  </span>
                  <span class="row-about">{app.summary}</span>
                </span>
                <Icon name="right" size={18} />
              </a>
            </li>
          ))}
        </ul>
      )}
      {apps !== null && <Restore missing={ESSENTIAL.filter(({ appId }) => !apps.some((app) => app.appId === appId))} />}
    </>
  );
}

function Restore({ missing }: { readonly missing: readonly { readonly appId: string; readonly name: string }[] }) {
  const { failure, run } = useAction();
  if (missing.length === 0) return null;
  return (
    <section class="block">
      <h3>Removed</h3>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <ul class="rows">
        {missing.map(({ appId, name }) => (
          <li key={appId} class="row">
            <AppPicture name={name} path={null} />
            <span class="row-text">
              <span class="row-title">{name}</span>
              <span class="row-about">Comes with the platform</span>
            </span>
            <Button icon="plus" onClick={() => void run(() => askToInstall(appId, null, null))}>
              Install again
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
