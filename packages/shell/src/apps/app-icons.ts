// Icons and screenshots of apps, as the pictures themselves: an image would be asked for without the pin of this page, and the
// frames of apps may not load from the shell's origin.
import { signal } from '@preact/signals';
import { send } from '../api/client.ts';

/** As large as an icon may be published. One from before that was bounded shows nowhere, so that its app looks alike everywhere. */
const LARGEST_BYTES = 256 * 1024;

/** `data:` addresses, by path. */
const known = new Map<string, Promise<string | null>>();
/** What has been read, by path. */
const atHand = new Map<string, string>();

function asDataUrl(picture: Blob): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : null));
    reader.addEventListener('error', () => resolve(null));
    reader.readAsDataURL(picture);
  });
}

async function read(path: string, atMost = Number.POSITIVE_INFINITY): Promise<string | null> {
  const response = await send(path, { signal: AbortSignal.timeout(10_000) });
  if (response.headers.get('content-type')?.startsWith('image/') !== true) return null;
  const picture = await response.blob();
  return picture.size > atMost ? null : asDataUrl(picture);
}

/** The icon as a `data:` address, or `null` when there is none, it is too large, or it could not be read. */
export function iconAsData(path: string): Promise<string | null> {
  const found =
    known.get(path) ??
    read(path, LARGEST_BYTES)
      .then((address) => {
        if (address !== null) atHand.set(path, address);
        return address;
      })
      .catch(() => {
        // Asked for again the next time.
        known.delete(path);
        return null;
      });
  known.set(path, found);
  return found;
}

/** Grows when icons may have changed, so that the shell's own pictures are read again. */
export const iconRevision = signal(0);

/** The icon as a `data:` address where no one can wait for it: `null` unless it was read before. */
export function iconAtHand(path: string): string | null {
  return atHand.get(path) ?? null;
}

/** A screenshot for an app as a `data:` address, `null` when it could not be read. The browser keeps it for a while, this page does not. */
export function screenshotForApps(path: string): Promise<string | null> {
  return read(path).catch(() => null);
}

/** After an installation or upgrade. */
export function forgetIcons(): void {
  known.clear();
  atHand.clear();
  iconRevision.value += 1;
}
