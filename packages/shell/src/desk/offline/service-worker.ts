// Registers the service worker of the shell: it says so while the platform cannot be reached, and shows what comes as web push.

const WORKER = '/service-worker.js';

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(text: string): string };
}

/** The policy of this page takes no text for the address of a script, and lets one maker of addresses be: this one. */
const maker = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('service-worker', {
  createScriptURL: () => WORKER,
});

/** Does nothing where it is registered already. @throws DOMException, TypeError */
export async function registerWorker(): Promise<void> {
  const address = maker?.createScriptURL(WORKER) ?? WORKER;
  await navigator.serviceWorker.register(address, { scope: '/', updateViaCache: 'none' });
}

/** For the page that says that the platform cannot be reached; without it, the browser says so in its own words. */
export async function keepOfflinePage(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  await registerWorker().catch((error: unknown) => console.warn('There is no page for being offline.', error));
}
