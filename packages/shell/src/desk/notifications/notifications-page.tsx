// Notification settings: the surfaces of the account, the permission of this browser, and what is muted.
import type { NotificationMute, NotificationSettings, NotificationSettingsChange } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { useAction } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { byName } from '../../apps/arrange.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { askBrowserPermission, browserPermission } from './mirror.ts';
import { PushSection } from './push-section.tsx';
import { changeNotificationSettings, notificationSettings, readNotificationSettings } from './settings.ts';

const SURFACES = [
  {
    name: 'flashes',
    label: 'Above your apps',
    about: 'Important notifications stay there until you dismiss them. Critical ones always do, even from muted apps.',
  },
  {
    name: 'system',
    label: 'Device notifications',
    about: 'While this page is open in the background, in browsers where you allowed it.',
  },
  {
    name: 'webPush',
    label: 'When all windows are closed',
    about: 'In browsers where you turned it on below. Apps decide which notifications use this.',
  },
] as const satisfies readonly { name: keyof NotificationSettings; label: string; about: string }[];

export function NotificationsPage() {
  const problem = useSignal<string | null>(null);
  const settings = notificationSettings.value;
  const failure = problem.value;
  const attempt = (work: () => Promise<unknown>) =>
    void work().then(
      () => (problem.value = null),
      (error: unknown) => (problem.value = plainMessage(error)),
    );
  useEffect(() => attempt(readNotificationSettings), []);
  const change = (what: NotificationSettingsChange) => attempt(() => changeNotificationSettings(what));
  return (
    <>
      <PageHead title="Notifications">
        <p class="quiet-text">Every notification appears under the bell. Choose where else they may appear.</p>
      </PageHead>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {settings === null ? (
        failure === null && <Skeleton lines={3} label="Loading the settings" />
      ) : (
        <>
          <ul class="rows">
            {SURFACES.map(({ name, label, about }) => (
              <li key={name}>
                <label class="row plain-weight">
                  <span class="row-text">
                    <span class="row-title">{label}</span>
                    <span class="row-about">{about}</span>
                  </span>
                  <input
                    type="checkbox"
                    checked={settings[name]}
                    onChange={(event) => change({ [name]: event.currentTarget.checked })}
                  />
                </label>
              </li>
            ))}
          </ul>
          <ThisBrowser />
          <PushSection />
          <section class="block">
            <h3>Muted</h3>
            <Muted muted={settings.muted} onUnmute={(mute) => change({ unmute: [mute] })} />
          </section>
        </>
      )}
    </>
  );
}

function ThisBrowser() {
  const { failure, run } = useAction();
  const permission = browserPermission.value;
  return (
    <section class="block">
      <h3>This browser</h3>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {permission === 'granted' && <p>Notifications are enabled in this browser.</p>}
      {permission === 'default' && (
        <>
          <p class="quiet-text">Notifications aren’t enabled in this browser.</p>
          <p class="buttons">
            <Button icon="bell" onClick={() => void run(askBrowserPermission)}>
              Allow notifications
            </Button>
          </p>
        </>
      )}
      {permission === 'denied' && (
        <Note tone="warning">
          Notifications are blocked for this site. Allow them in the browser’s site settings, usually behind the icon to
          the left of the address.
        </Note>
      )}
      {permission === 'unsupported' && <Note tone="info">This browser doesn’t support notifications.</Note>}
    </section>
  );
}

/** `Notes: reminders`, for all of an app `Notes`. */
function whatOf({ appId, topic }: NotificationMute): string {
  return topic === null ? nameOf(appId) : `${nameOf(appId)}: ${topic}`;
}

function byWhat(one: NotificationMute, other: NotificationMute): number {
  return byName({ name: whatOf(one) }, { name: whatOf(other) });
}

interface MutedProps {
  readonly muted: readonly NotificationMute[];
  readonly onUnmute: (mute: NotificationMute) => void;
}

function Muted({ muted, onUnmute }: MutedProps) {
  if (muted.length === 0)
    return (
      <Empty icon="bell" title="Nothing is muted">
        Mute an app, or one of its topics, in the Notifications app.
      </Empty>
    );
  return (
    <ul class="rows">
      {muted.toSorted(byWhat).map((mute) => {
        return (
          <li key={`${mute.appId} ${mute.topic ?? ''}`} class="row">
            <AppPicture appId={mute.appId} name={nameOf(mute.appId)} path={findApp(mute.appId)?.icon ?? null} />
            <span class="row-text">
              <span class="row-title">{nameOf(mute.appId)}</span>
              <span class="row-about">{mute.topic === null ? 'Everything' : `Only “${mute.topic}”`}</span>
            </span>
            <Button onClick={() => onUnmute(mute)}>
              Unmute<span class="only-read"> {whatOf(mute)}</span>
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
