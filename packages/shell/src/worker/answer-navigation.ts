// What the worker does with requests: it takes those for the page of the shell, passes them on, and answers itself only where nobody
// else does. It stores no answer, and takes no other request.
import { offlinePage } from './offline-page.ts';
import type { FetchEvent, InstallEvent } from './scope.ts';

/** Nothing but navigations goes through the worker, where the browser can be told so: requests then do not wait for it to start. */
export function leaveRequestsAlone(event: InstallEvent): void {
  const rules = [{ condition: { not: { requestMode: 'navigate' } }, source: 'network' }];
  // Of a browser that knows no such condition, the handler below leaves them to it one by one.
  event.waitUntil(Promise.resolve(event.addRoutes?.(rules)).catch(() => undefined));
}

export function answerNavigation(event: FetchEvent): void {
  const { mode, method, url } = event.request;
  if (mode !== 'navigate' || method !== 'GET' || new URL(url).pathname !== '/') return;
  event.respondWith(fetch(event.request).catch(() => offlinePage()));
}
