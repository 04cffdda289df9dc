// Notifications: the inbox of the account, live, with filters.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';
import { Item } from './item.tsx';
import { Surfaces } from './surfaces.tsx';
import { useInbox } from './use-inbox.ts';
import { useSettings } from './use-settings.ts';

startApp(Inbox);

function Inbox({ app }: { readonly app: App }) {
  const [unreadOnly, setUnreadOnly] = useKept<boolean>('unreadOnly', false);
  const [from, setFrom] = useKept<string>('from', '');
  const [topic, setTopic] = useKept<string>('topic', '');
  const [problem, setProblem] = useState<string>();
  const inbox = useInbox(app.notifications(), { unreadOnly });
  const settings = useSettings(app);
  const apps = useLoaded(app, () => app.apps.list());
  const known = new Map((apps.value ?? []).map((entry) => [entry.appId, entry]));
  const senders = [...new Set(inbox.items.map(({ appId }) => appId))].sort();
  const nameOf = (appId: string) => known.get(appId)?.name ?? appId;
  const ofApp = inbox.items.filter(({ appId }) => from === '' || appId === from);
  const topics = [...new Set(ofApp.map((item) => item.topic))].sort();
  // A topic that the chosen app does not have would leave the list empty without a word.
  const chosen = topics.includes(topic) ? topic : '';
  const shown = ofApp.filter((item) => chosen === '' || item.topic === chosen);
  const attempt = (work: () => Promise<unknown>) => {
    setProblem(undefined);
    work().catch((error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <main>
      <div class="row between">
        <h1>Notifications</h1>
        <button type="button" onClick={() => attempt(inbox.readAll)}>
          Mark all read
        </button>
      </div>
      <div class="row filters">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would frame the two buttons. */}
        <div class="segments" role="group" aria-label="Show">
          <button type="button" aria-pressed={!unreadOnly} onClick={() => setUnreadOnly(false)}>
            All
          </button>
          <button type="button" aria-pressed={unreadOnly} onClick={() => setUnreadOnly(true)}>
            Unread
          </button>
        </div>
        <select aria-label="From app" value={from} onChange={(event) => setFrom(event.currentTarget.value)}>
          <option value="">All apps</option>
          {senders.map((appId) => (
            <option key={appId} value={appId}>
              {nameOf(appId)}
            </option>
          ))}
        </select>
        <select aria-label="On topic" value={chosen} onChange={(event) => setTopic(event.currentTarget.value)}>
          <option value="">All topics</option>
          {topics.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <p class="quiet small">
        Notices about the security of your account are under the bell, where no app can touch them.
      </p>
      <Surfaces app={app} settings={settings} nameOf={nameOf} attempt={attempt} />
      <Failure text={problem ?? inbox.failure ?? settings.failure} />
      {inbox.loaded && shown.length === 0 && (
        <p class="quiet">
          {unreadOnly || from !== '' || chosen !== ''
            ? 'No such notifications. Choose “All”, “All apps” and “All topics” to see the others.'
            : 'No notifications yet. What your apps send you appears here.'}
        </p>
      )}
      <ul class="plain inbox" aria-live="polite">
        {shown.map((notification) => (
          <li key={notification.id}>
            <Item
              notification={notification}
              sender={known.get(notification.appId)}
              muted={settings.isMuted(notification.appId, notification.topic)}
              onMute={(mute) => attempt(() => settings.mute(mute))}
              onRead={() => attempt(() => inbox.read(notification.id))}
              onOpen={(target) =>
                attempt(async () => {
                  await inbox.read(notification.id);
                  await app.apps.open(notification.appId, target);
                })
              }
            />
          </li>
        ))}
      </ul>
      {inbox.hasMore && (
        <button type="button" onClick={() => attempt(inbox.more)}>
          Show older
        </button>
      )}
    </main>
  );
}
