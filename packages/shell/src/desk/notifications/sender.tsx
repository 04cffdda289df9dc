// Who sent a notification, as the shell shows it, and what opening it means: an app, or the platform itself, whose
// notices lead to a page of Settings.
import { type Notification, PLATFORM_SENDER } from '@platform/contract';
import { go } from '../../address/view.ts';
import { currentPin } from '../../api/pin.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { openApp } from '../../apps/frames/open-apps.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Icon } from '../../design/icons.tsx';

/** The target of a notice of the platform: the page, and the session that did what it is about. */
const SETTINGS_TARGET = /^\?settings\/([a-z/-]+)&by=([A-Za-z0-9-]+)$/;

export function isOfPlatform({ appId }: Pick<Notification, 'appId'>): boolean {
  return appId === PLATFORM_SENDER;
}

/** The name a person knows the sender by. */
export function senderName(record: Pick<Notification, 'appId'>): string {
  return isOfPlatform(record) ? 'Account security' : nameOf(record.appId);
}

/** Whether there is something to open: an app that is still installed, or a page of the shell. */
export function canBeOpened(record: Pick<Notification, 'appId'>): boolean {
  return isOfPlatform(record) || findApp(record.appId) !== undefined;
}

function targetOf({ presentation }: Pick<Notification, 'presentation'>): string {
  return presentation?.actions[0]?.target ?? '';
}

/** Whether it is about what the person just did in this session: it is news in the others alone. */
export function isOwnDoing(record: Pick<Notification, 'appId' | 'presentation'>): boolean {
  return isOfPlatform(record) && SETTINGS_TARGET.exec(targetOf(record))?.[2] === currentPin();
}

/** Opens what sent the record, at a place that one of its actions names; a notice of the platform at its first one. */
export function openSender(record: Pick<Notification, 'appId' | 'presentation'>, target: string | null): void {
  if (!isOfPlatform(record)) {
    openApp(record.appId, target);
    return;
  }
  const path = SETTINGS_TARGET.exec(target ?? targetOf(record))?.[1];
  if (path !== undefined) go({ kind: 'settings', path });
}

interface SenderPictureProps {
  readonly appId: string;
  readonly size: 'small' | 'middle';
}

/** The picture of the sender; beside its name it is decoration. */
export function SenderPicture({ appId, size }: SenderPictureProps) {
  if (isOfPlatform({ appId }))
    return (
      <span class={`picture of-platform ${size}`} aria-hidden="true">
        <Icon name="shield" size={size === 'small' ? 20 : 28} />
      </span>
    );
  return <AppPicture appId={appId} name={nameOf(appId)} path={findApp(appId)?.icon ?? null} size={size} />;
}
