// What the rest of core may use of notifications.
export { countNotifications } from './count-queries.ts';
export type { NotificationRow } from './queries.ts';
