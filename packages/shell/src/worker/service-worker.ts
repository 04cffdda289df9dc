// The service worker of the shell: shows web push messages while no page is open, and says so while the platform cannot be reached.
// It stores no answer of the platform. Registered while somebody is signed in in this browser, gone when they sign out.
import './no-eval.ts';
import { answerNavigation, leaveRequestsAlone } from './answer-navigation.ts';
import { openFromPress } from './open-from-press.ts';
import { renewSubscription } from './renew-subscription.ts';
import type { WorkerScope } from './scope.ts';
import { showPush } from './show-push.ts';

declare const self: WorkerScope;

self.addEventListener('install', (event) => {
  leaveRequestsAlone(event);
  // It keeps nothing that a page of the former one could miss.
  event.waitUntil(self.skipWaiting());
});
self.addEventListener('fetch', answerNavigation);
self.addEventListener('push', (event) => event.waitUntil(showPush(self.registration, event.data?.text() ?? '')));
self.addEventListener('notificationclick', (event) => event.waitUntil(openFromPress(self, event.notification)));
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renewSubscription(self, event)));
