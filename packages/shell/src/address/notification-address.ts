// The address at which the shell opens a notification (`#/notification/ntf-…`), written by its service worker and
// windows. It contains only the record's id; core decides what that opens.

/** Tag of the one notification that stands for all messages that could not be read. */
export const UNREADABLE_TAG = 'unreadable';

const ADDRESS = /^#\/notification\/(ntf-[0-9a-f-]{36})$/;

/** @param tag of a notification of ours: the record's id. `null` for `UNREADABLE_TAG`, which names none. */
export function notificationAddress(tag: string): string | null {
  const hash = `#/notification/${tag}`;
  return readNotificationAddress(hash) === null ? null : hash;
}

/** The id in an address; `null` for every other address. */
export function readNotificationAddress(hash: string): string | null {
  return ADDRESS.exec(hash)?.[1] ?? null;
}
