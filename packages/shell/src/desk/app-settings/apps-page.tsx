// Every installed app, and the way back for one of the platform's own that was removed.
import type { InstalledApp } from '@platform/contract';
import { useId } from 'preact/hooks';
import { addressOf, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { AppsNotListed } from '../../apps/apps-not-listed.tsx';
import { byName } from '../../apps/arrange.ts';
import { ESSENTIAL_APPS } from '../../apps/essential-apps.ts';
import { installedApps } from '../../apps/installed-apps.ts';
import { Button, Empty, Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { needsPerson } from '../../design/stopped-words.ts';
import { WaitingDrafts } from '../drafts/waiting-drafts.tsx';
import { askToInstall } from '../prompts/ask-to-install.ts';

export function AppsPage() {
  const apps = installedApps.value;
  return (
    <>
      <PageHead title="Apps">
        <p class="quiet-text">Choose an app to see its permissions and backend, or to remove it.</p>
      </PageHead>
      <WaitingDrafts />
      {apps === null ? (
        <AppsNotListed lines={5} label="Loading your apps" />
      ) : apps.length === 0 ? (
        <Empty icon="apps" title="No apps are installed">
          Install Store again below, and find apps there.
        </Empty>
      ) : (
        <>
          <AppRows title="Your apps" apps={apps.filter(({ builtIn }) => !builtIn)} />
          <AppRows title="Parts of the platform" apps={apps.filter(({ builtIn }) => builtIn)} />
        </>
      )}
      {apps !== null && (
        <Restore missing={ESSENTIAL_APPS.filter(({ appId }) => !apps.some((app) => app.appId === appId))} />
      )}
    </>
  );
}

function AppRows({ title, apps }: { readonly title: string; readonly apps: readonly InstalledApp[] }) {
  const id = useId();
  if (apps.length === 0) return null;
  return (
    <section class="block" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <ul class="rows">
        {sorted(apps).map((app) => (
          <li key={app.appId}>
            <a class="row" href={addressOf(settingsAt('apps/:appId', { appId: app.appId }))}>
              <AppPicture appId={app.appId} name={app.name} path={app.icon} />
              <span class="row-text">
                <span class="row-title">
                  {app.name}
                  {app.hasWorkload && <BackendTag appId={app.appId} />}
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
    </section>
  );
}

function sorted(apps: readonly InstalledApp[]): readonly InstalledApp[] {
  return apps.toSorted(byName);
}

const STATES = { stopped: 'Stopped', starting: 'Starting', running: 'Running', failed: 'Failed' } as const;

/** Nothing for a backend that is idle, or whose node does not answer: its page says more. */
function BackendTag({ appId }: { readonly appId: string }) {
  const status = useReading(() => call('apps.status', { params: { appId } })).value;
  if (status === null || (status.state === 'stopped' && !needsPerson(status))) return null;
  return <span class={status.state === 'failed' ? 'tag danger' : 'tag'}>{STATES[status.state]}</span>;
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
            <AppPicture appId={appId} name={name} path={`/v1/catalog/${appId}/icon`} />
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
