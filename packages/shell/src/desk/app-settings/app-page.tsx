// One app: what it may do, how its backend runs, its version, and its removal.
import type { InstalledApp } from '@platform/contract';
import { addressOf, go, settingsAt } from '../../address/view.ts';
import { useAction } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { AppsNotListed } from '../../apps/apps-not-listed.tsx';
import { homeApp, openApp } from '../../apps/frames/open-apps.ts';
import { findApp, installedApps } from '../../apps/installed-apps.ts';
import { Button, Empty, Note } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { onDay, shortVersion } from '../../design/words.ts';
import { AppWebSearch } from '../agents/app-web-search.tsx';
import { AppAi } from '../ai/app-ai.tsx';
import { setHome } from '../home/home-choice.ts';
import { AppInternet } from '../internet/app-internet.tsx';
import { NativeClients } from '../internet/native-clients.tsx';
import { askToInstall } from '../prompts/ask-to-install.ts';
import { askToUninstall } from '../prompts/uninstall-review.tsx';
import { upgradesDone } from '../prompts/upgrade-review.tsx';
import { AppSecrets } from '../secrets/app-secrets.tsx';
import { AppData } from '../storage/app-data.tsx';
import { AppWorkflows } from '../workflows/app-workflows.tsx';
import { AppVersion } from './app-version.tsx';
import { BackendState } from './backend-state.tsx';
import { GrantsEditor } from './grants-editor.tsx';

const UP = { href: addressOf(settingsAt('apps')), label: 'Apps' };

export function AppPage({ appId }: { readonly appId: string }) {
  if (installedApps.value === null) return <AppsNotListed lines={5} label="Loading the app" />;
  const app = findApp(appId);
  if (app === undefined) {
    return (
      <>
        <PageHead title="Not installed" up={UP} />
        <Empty icon="box" title={`“${appId}” is not installed`}>
          It may have been removed. You can install it again in the Store; its data is kept.
        </Empty>
      </>
    );
  }
  return (
    <>
      <PageHead title={app.name} up={UP}>
        <AppFacts app={app} />
      </PageHead>
      <AppVersion key={`version ${app.version} ${app.upgrade}`} app={app} />
      <section class="block" aria-labelledby="grants-title">
        <h3 id="grants-title">What it may do</h3>
        <GrantsEditor
          key={`${app.version} ${upgradesDone.value}`}
          appId={appId}
          name={app.name}
          version={app.version}
        />
      </section>
      {app.hasWorkload && (
        <AppSecrets key={`secrets ${app.version} ${upgradesDone.value}`} appId={appId} name={app.name} />
      )}
      {(app.hasWorkload || app.hasUnreviewedWorkload) && (
        <AppInternet key={`internet ${app.version} ${upgradesDone.value}`} appId={appId} name={app.name} />
      )}
      {app.hasWorkload && (
        <section class="block" aria-labelledby="backend-title">
          <h3 id="backend-title">Backend</h3>
          <BackendState key={`state ${app.version} ${upgradesDone.value}`} appId={appId} />
          <div class="buttons">
            <Button icon="log" onClick={() => go(settingsAt('apps/:appId/log', { appId }))}>
              See its log
            </Button>
          </div>
        </section>
      )}
      {app.hasWorkload && <NativeClients key={`clients ${app.version}`} appId={appId} name={app.name} />}
      {app.hasWorkload && <AppWorkflows appId={appId} name={app.name} />}
      {app.requestsIntelligence && (
        <section class="block" aria-labelledby="ai-title">
          <h3 id="ai-title">AI</h3>
          <AppAi appId={appId} name={app.name} />
        </section>
      )}
      {app.searchesWeb && <AppWebSearch key={`search ${appId}`} appId={appId} name={app.name} />}
      {app.hasUnreviewedWorkload && (
        <section class="block" aria-labelledby="backend-title">
          <h3 id="backend-title">Backend</h3>
          <p>Off. It came with an update and runs once you allow it, under “What its backend may use”.</p>
        </section>
      )}
      {app.hasWorkload && <AppData key={`data ${appId}`} appId={appId} name={app.name} />}
      <Removal app={app} />
    </>
  );
}

function AppFacts({ app }: { readonly app: InstalledApp }) {
  const { failure, run } = useAction();
  const upgrade = app.upgrade;
  return (
    <div class="app-facts">
      <AppPicture appId={app.appId} name={app.name} path={app.icon} size="large" />
      <div>
        <p>{app.summary}</p>
        <p class="quiet-text">
          Version {shortVersion(app.version)},{' '}
          {app.publisher === 'platform' ? 'comes with the platform' : `published by ${app.publisher}`}, installed on{' '}
          {onDay(app.installedAt)}
        </p>
        <div class="buttons">
          {app.hasFrontend && <Button onClick={() => openApp(app.appId)}>Open</Button>}
          {upgrade !== null && (
            <Button
              kind="primary"
              icon="upgrade"
              onClick={() => void run(() => askToInstall(app.appId, upgrade, null))}
            >
              Update to {shortVersion(upgrade)}
            </Button>
          )}
          {homeApp.value === app.appId && app.appId !== 'launcher' && findApp('launcher') !== undefined && (
            <Button icon="home" onClick={() => void run(() => setHome('launcher'))}>
              Use Launcher as home again
            </Button>
          )}
        </div>
        {failure !== null && <Note tone="danger">{failure}</Note>}
      </div>
    </div>
  );
}

function Removal({ app }: { readonly app: InstalledApp }) {
  return (
    <section class="block" aria-labelledby="removal-title">
      <h3 id="removal-title">Remove</h3>
      <p class="quiet-text">The app stops and loses its permissions. Its data is kept in case you install it again.</p>
      <div class="buttons">
        <Button
          kind="danger"
          icon="trash"
          onClick={() =>
            void askToUninstall(app.appId, app.name, null).then((removed) => {
              if (removed) go(settingsAt('apps'));
            })
          }
        >
          Remove {app.name}
        </Button>
      </div>
    </section>
  );
}
