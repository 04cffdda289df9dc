// The pin for the service worker, which has no local storage: it sends core a new push subscription while no page is
// open, and must not do so in the session of another account. In the cache storage of this origin, the smallest store
// that pages and workers share; the worker serves nothing from it.
const NAME = 'platform-session';
const PLACE = '/pin';

export async function keepWorkerPin(pin: string): Promise<void> {
  await (await caches.open(NAME)).put(PLACE, new Response(pin));
}

export async function dropWorkerPin(): Promise<void> {
  await caches.delete(NAME);
}

export async function readWorkerPin(): Promise<string | null> {
  const kept = await caches.match(PLACE, { cacheName: NAME });
  return kept === undefined ? null : kept.text();
}
