// Downloads: a frame saves nothing on the device by itself, so a press on a link to a file of the app hands it to the shell.

/** @param save hands a file to the shell; what cannot be saved is reported in the console */
export function sendDownloadsToShell(page: Window, save: (file: Blob, name: string) => Promise<unknown>): void {
  page.addEventListener('click', (event) => {
    const link = event.composedPath().find((part) => part instanceof HTMLAnchorElement);
    if (!link?.href || !link.hasAttribute('download') || event.defaultPrevented) return;
    if (/^(?:blob|data):$/.test(link.protocol)) {
      console.warn('Not saved: use app.saveFile(blob, name) for what the page has made.');
      return;
    }
    if (link.origin !== page.location.origin) return;
    event.preventDefault();
    saveLink(link, save).catch((error: unknown) => console.warn(`Not saved: ${link.href}.`, error));
  });
}

async function saveLink(
  { href, pathname, download }: HTMLAnchorElement,
  save: (file: Blob, name: string) => Promise<unknown>,
): Promise<void> {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const name = download || decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
  await save(await answer.blob(), name || 'download');
}
