// Icons and screenshots of apps, as the pictures themselves: an image would be asked for without the pin of this page, and the frames of
// apps may not load from the shell's origin.
import { signal } from '@preact/signals';
import { send } from '../api/client.ts';

/** For apps, over the bridge. */
const LARGEST_BYTES = 128 * 1024;

interface Picture {
  readonly bytes: number;
  /** `data:` address. */
  readonly address: string;
}

const known = new Map<string, Promise<Picture | null>>();
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

async function read(path: string): Promise<Picture | null> {
  const response = await send(path, { signal: AbortSignal.timeout(10_000) });
  if (response.headers.get('content-type')?.startsWith('image/') !== true) return null;
  const picture = await response.blob();
  const address = await asDataUrl(picture);
  return address === null ? null : { bytes: picture.size, address };
}

function find(path: string): Promise<Picture | null> {
  const found =
    known.get(path) ??
    read(path)
      .then((picture) => {
        if (picture !== null) atHand.set(path, picture.address);
        return picture;
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

/** The icon for this page as a `data:` address, or `null` when it could not be read. */
export async function iconAsData(path: string): Promise<string | null> {
  return (await find(path))?.address ?? null;
}

/** The icon as a `data:` address where no one can wait for it: `null` unless it was read before. */
export function iconAtHand(path: string): string | null {
  return atHand.get(path) ?? null;
}

/** The icon for an app as a `data:` address, or `null` when there is none, it is too large, or it could not be read. */
export async function iconForApps(path: string | null): Promise<string | null> {
  const picture = path === null ? null : await find(path);
  return picture === null || picture.bytes > LARGEST_BYTES ? null : picture.address;
}

/** A screenshot for an app as a `data:` address, `null` when it could not be read. The browser keeps it for a while, this page does not. */
export async function screenshotForApps(path: string): Promise<string | null> {
  return (await read(path).catch(() => null))?.address ?? null;
}

/** After an installation or upgrade. */
export function forgetIcons(): void {
  known.clear();
  atHand.clear();
  iconRevision.value += 1;
}
