// What the rest of core may use of push.
export type { PushOptions } from './open-push-worker.ts';
export { openWebPush } from './open-web-push.ts';
export { enqueuePush, type OutboxContext, withdrawPush } from './outbox.ts';
export { opensPushKey } from './vapid-keys.ts';
