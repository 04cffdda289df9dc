// One notification in the inbox, with the actions its app gave it.
import type { InstalledApp, Notification } from '@platform/sdk/browser';
import { AppIcon } from '../../shared/app-icon.tsx';
import { MuteMenu } from './mute-menu.tsx';
import type { Mute } from './use-settings.ts';

interface ItemProps {
  readonly notification: Notification;
  /** The app that sent it, while it is installed. */
  readonly sender: InstalledApp | undefined;
  readonly muted: boolean;
  readonly onMute: (mute: Mute) => void;
  readonly onRead: () => void;
  readonly onOpen: (target?: string) => void;
}

const PRIORITIES = { high: 'Important', critical: 'Urgent' } as const;
const STYLES = { primary: 'primary', secondary: '', danger: 'danger' } as const;

export function Item({ notification, sender, muted, onMute, onRead, onOpen }: ItemProps) {
  const { appId, topic, title, body, createdAt, readAt, priority, presentation } = notification;
  const name = sender?.name ?? appId;
  const actions = presentation?.actions ?? [];
  return (
    <article class={readAt === null ? 'card unread appears' : 'card'} aria-label={title}>
      <AppIcon appId={appId} name={name} icon={sender?.icon ?? null} />
      <div class="grow">
        <h2>{title}</h2>
        <p class="quiet small">
          {name} · {topic} · <time dateTime={createdAt}>{new Date(createdAt).toLocaleString()}</time>{' '}
          {(priority === 'high' || priority === 'critical') && <span class="badge danger">{PRIORITIES[priority]}</span>}{' '}
          {muted && <span class="badge">Muted</span>}
        </p>
        {body !== '' && <p class="body">{body}</p>}
        <div class="row">
          {sender !== undefined &&
            actions.map(({ id, label, style, target }) => (
              <button key={id} type="button" class={STYLES[style]} onClick={() => onOpen(target)}>
                {label}
              </button>
            ))}
          {sender?.hasFrontend === true && actions.length === 0 && (
            <button type="button" onClick={() => onOpen()} aria-label={`Open ${name}`}>
              Open
            </button>
          )}
          {readAt === null && (
            <button type="button" class="link" onClick={onRead} aria-label={`Mark read: ${title}`}>
              Mark read
            </button>
          )}
          {!muted && <MuteMenu name={name} appId={appId} topic={topic} onMute={onMute} />}
        </div>
      </div>
    </article>
  );
}
