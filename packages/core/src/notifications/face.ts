// What the rest of core may use of notifications.
export { countNotifications } from './count-queries.ts';
export { markReadAt } from './mark-read.ts';
export type { NewNotification, NotificationRow } from './queries.ts';
export { storeWithin } from './store-notifications.ts';
