// What a change makes of the settings of notifications, as core will answer it.
import type { NotificationMute, NotificationSettings, NotificationSettingsChange } from '@platform/contract';

export function changedSettings(
  former: NotificationSettings,
  { mute = [], unmute = [], muted = former.muted, ...surfaces }: NotificationSettingsChange,
): NotificationSettings {
  const named = [...mute, ...unmute];
  const others = muted.filter((entry) => !named.some((other) => isSame(entry, other)));
  return {
    system: surfaces.system ?? former.system,
    webPush: surfaces.webPush ?? former.webPush,
    flashes: surfaces.flashes ?? former.flashes,
    muted: [...others, ...mute],
  };
}

function isSame(one: NotificationMute, other: NotificationMute): boolean {
  return one.appId === other.appId && one.topic === other.topic;
}
