// The bell and its panel: the notifications of the account, newest first.
import type { Notification } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { Button, Empty, IconButton, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { ago, inFull } from '../../design/words.ts';
import { dismissNotificationToasts, showToast } from '../toasts/toasts.ts';
import {
  inboxFailure,
  markAllRead,
  markRead,
  notifications,
  olderCursor,
  openNotification,
  readInbox,
  readOlder,
  unreadCount,
} from './inbox.ts';
import { canBeOpened, SenderPicture, senderName } from './sender.tsx';

async function orShowError(title: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    showToast({ title, body: plainMessage(error), tone: 'danger' });
  }
}

export function NotificationsButton() {
  const panel = useRef<HTMLElement>(null);
  const unread = unreadCount.value;
  const label = unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`;
  return (
    <>
      <button type="button" class="bar-button" popovertarget="notifications" aria-label={label} title="Notifications">
        <Icon name="bell" size={22} />
        {unread > 0 && (
          <span class="badge" aria-hidden="true">
            {unread > 99 ? '99+' : unread}
          </span>
        )}
      </button>
      <section
        id="notifications"
        ref={panel}
        class="panel"
        popover="auto"
        aria-labelledby="notifications-title"
        onToggle={(event) => {
          if (event.newState === 'open') dismissNotificationToasts();
        }}
      >
        <header class="panel-head">
          <h2 id="notifications-title">Notifications</h2>
          {unread > 0 && (
            <button
              type="button"
              class="link"
              onClick={() => void orShowError('The notifications are still unread', markAllRead)}
            >
              Mark all read
            </button>
          )}
        </header>
        <NotificationList onOpened={() => panel.current?.hidePopover()} />
      </section>
    </>
  );
}

function NotificationList({ onOpened }: { readonly onOpened: () => void }) {
  const loadingOlder = useSignal(false);
  const records = notifications.value;
  if (inboxFailure.value !== null && records === null) {
    return (
      <div class="panel-body">
        <Note tone="danger">{inboxFailure.value}</Note>
        <Button icon="refresh" onClick={() => void readInbox()}>
          Try again
        </Button>
      </div>
    );
  }
  if (records === null) return <Skeleton label="Loading notifications" />;
  if (records.length === 0) {
    return (
      <Empty icon="bell" title="No notifications yet">
        Notifications from your apps appear here. Choose in Settings which apps may send them.
      </Empty>
    );
  }
  return (
    <>
      <ul class="records">
        {records.map((record) => (
          <Record key={record.id} record={record} onOpened={onOpened} />
        ))}
      </ul>
      {olderCursor.value !== null && (
        <div class="panel-body">
          <Button
            kind="quiet"
            busy={loadingOlder.value}
            onClick={() => {
              loadingOlder.value = true;
              void orShowError('Older notifications could not be loaded', readOlder).finally(() => {
                loadingOlder.value = false;
              });
            }}
          >
            Show older
          </Button>
        </div>
      )}
    </>
  );
}

function Record({ record, onOpened }: { readonly record: Notification; readonly onOpened: () => void }) {
  const unread = record.readAt === null;
  const isOpenable = canBeOpened(record);
  const urgent = record.priority === 'high' || record.priority === 'critical';
  const open = (target: string | null) => {
    onOpened();
    openNotification(record, target);
  };
  return (
    <li class={`record ${unread ? 'unread' : 'read'} ${record.presentation?.tone ?? 'neutral'}`}>
      <SenderPicture appId={record.appId} size="small" />
      <div class="record-text">
        <p class="record-about">
          <span>{senderName(record)}</span>
          <time dateTime={record.createdAt} title={inFull(record.createdAt)}>
            {ago(record.createdAt)}
          </time>
          {urgent && <span class="tag warning">{record.priority === 'critical' ? 'Critical' : 'Important'}</span>}
        </p>
        <p class="record-title">
          {unread && <span class="only-read">Unread: </span>}
          {isOpenable ? (
            <button type="button" onClick={() => open(null)}>
              {record.title}
            </button>
          ) : (
            record.title
          )}
        </p>
        {record.body !== '' && <p class="record-body">{record.body}</p>}
        {isOpenable && (record.presentation?.actions.length ?? 0) > 0 && (
          <p class="record-actions">
            {record.presentation?.actions.map((action) => (
              <Button
                key={action.id}
                kind={action.style === 'secondary' ? 'plain' : action.style}
                onClick={() => open(action.target ?? null)}
              >
                {action.label}
              </Button>
            ))}
          </p>
        )}
      </div>
      {unread && (
        <IconButton
          icon="check"
          label={`Mark “${record.title}” read`}
          onClick={() => void orShowError('The notification is still unread', () => markRead(record.id))}
        />
      )}
    </li>
  );
}
