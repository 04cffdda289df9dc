// The service worker of the shell: shows web push messages while no page is open, and nothing else. It answers no request
// and stores no file. Registered when a person turns web push on in this browser, gone when they turn it off.
import './no-eval.ts';
import { openFromPress } from './open-from-press.ts';
import { renewSubscription } from './renew-subscription.ts';
import type { WorkerScope } from './scope.ts';
import { showPush } from './show-push.ts';

declare const self: WorkerScope;

self.addEventListener('push', (event) => event.waitUntil(showPush(self.registration, event.data?.text() ?? '')));
self.addEventListener('notificationclick', (event) => event.waitUntil(openFromPress(self, event.notification)));
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renewSubscription(self, event)));
