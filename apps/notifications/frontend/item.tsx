// One notification in the inbox, with the actions its app gave it.
import type { InstalledApp, Notification } from '@platform/sdk/browser';
import { AppIcon } from '../../shared/app-icon.tsx';

interface ItemProps {
  readonly notification: Notification;
  /** The app that sent it, while it is installed. */
  readonly sender: InstalledApp | undefined;
  readonly onRead: () => void;
  readonly onOpen: (target?: string) => void;
}

const PRIORITIES = { high: 'Important', critical: 'Urgent' } as const;
const STYLES = { primary: 'primary', secondary: '', danger: 'danger' } as const;

export function Item({ notification, sender, onRead, onOpen }: ItemProps) {
  const { title, body, createdAt, readAt, priority, presentation } = notification;
  const name = sender?.name ?? notification.appId;
  const actions = presentation?.actions ?? [];
  return (
    <article class={readAt === null ? 'card unread appears' : 'card'} aria-label={title}>
      <AppIcon name={name} icon={sender?.icon ?? null} />
      <div class="grow">
        <h2>{title}</h2>
        <p class="quiet small">
          {name} · <time dateTime={createdAt}>{new Date(createdAt).toLocaleString()}</time>{' '}
          {(priority === 'high' || priority === 'critical') && <span class="badge danger">{PRIORITIES[priority]}</span>}
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
        </div>
      </div>
    </article>
  );
}
