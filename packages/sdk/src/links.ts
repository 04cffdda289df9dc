// Links to other sites: a frame opens no window and goes nowhere else, so a press on one asks the shell.

/**
 * Sends every press on a link to another origin to the shell, unless the page prevented the default.
 * @param open asks the shell; what it refuses, such as an address that is not https, is reported in the console
 */
export function sendLinksToShell(page: Window, open: (url: string) => Promise<unknown>): void {
  const take = (event: MouseEvent) => {
    const link = event.composedPath().find((part) => part instanceof HTMLAnchorElement);
    // The right button opens the browser's own menu; a link without an address has no protocol.
    if (!link?.href || event.defaultPrevented || event.button === 2) return;
    if (link.origin === page.location.origin || /^(?:javascript|blob|data):$/.test(link.protocol)) return;
    event.preventDefault();
    open(link.href).catch((error: unknown) => console.warn(`Not opened: ${link.href}.`, error));
  };
  // On the window, so that the page's own handlers come first.
  page.addEventListener('click', take);
  page.addEventListener('auxclick', take);
}
