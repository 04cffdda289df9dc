// Named moments, right before and after what cannot be taken back, at which a test may hold, stop or kill core.
// Outside tests nothing listens: only `CoreOptions.at` can, which is code that starts core, never an environment
// variable, a setting or a request.

export type Point =
  | 'accounts.delete.committing'
  | 'accounts.delete.committed'
  | 'installations.install.committing'
  | 'installations.install.committed'
  | 'installations.permissions.committing'
  | 'installations.permissions.committed'
  | 'installations.data.committing'
  | 'installations.data.committed'
  | 'installations.data.deleted'
  | 'installations.uninstall.committing'
  | 'installations.uninstall.committed'
  | 'notifications.publish.committing'
  | 'notifications.publish.committed'
  | 'pause.committing'
  | 'pause.committed'
  | 'push.claimed'
  | 'push.settle.committing'
  | 'push.settle.committed'
  | 'schedules.fire.committing'
  | 'schedules.fire.committed'
  | 'schedules.run.committing'
  | 'schedules.run.committed'
  | 'schedules.deliver'
  | 'schedules.settle.committing'
  | 'schedules.settle.committed'
  | 'search.feed.filled'
  | 'search.feed.read'
  | 'search.feed.sent'
  | 'search.write.committing'
  | 'search.write.committed'
  | 'workflows.create.committing'
  | 'workflows.create.committed'
  | 'workflows.claim.committing'
  | 'workflows.claim.committed'
  | 'workflows.renew.committing'
  | 'workflows.renew.committed'
  | 'workflows.settle.committing'
  | 'workflows.settle.committed'
  | 'workflows.complete.committing'
  | 'workflows.complete.committed'
  | 'workflows.cancel.committing'
  | 'workflows.cancel.committed'
  | 'workflows.remove.committing'
  | 'workflows.remove.committed'
  | 'workflows.expire.committing'
  | 'workflows.expire.committed'
  | 'workflows.cleanup.committing'
  | 'workflows.cleanup.committed';

/** The two points around one commit. */
export type Moment = Point extends infer One ? (One extends `${infer Name}.committing` ? Name : never) : never;

/** Waits for as long as the test holds this moment. */
export type At = (point: Point) => Promise<void> | undefined;

export const nothingListens: At = () => undefined;
