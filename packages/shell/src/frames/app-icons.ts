// Icons of apps for apps: their frames may not load from the shell's origin, so the bridge gives the picture itself.
import { signal } from '@preact/signals';

const LARGEST_BYTES = 128 * 1024;
const known = new Map<string, Promise<string | null>>();

function asDataUrl(picture: Blob): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : null));
    reader.addEventListener('error', () => resolve(null));
    reader.readAsDataURL(picture);
  });
}

async function read(path: string): Promise<string | null> {
  const response = await fetch(path, { signal: AbortSignal.timeout(10_000) }).catch(() => null);
  if (response?.ok !== true || !response.headers.get('content-type')?.startsWith('image/')) return null;
  const picture = await response.blob();
  return picture.size > LARGEST_BYTES ? null : asDataUrl(picture);
}

/** Grows when icons may have changed, so that the shell's own pictures load again. */
export const iconRevision = signal(0);

/** The icon as a `data:` address, or `null` when there is none, it is too large, or it could not be read. */
export function iconAsData(path: string | null): Promise<string | null> {
  if (path === null) return Promise.resolve(null);
  const found = known.get(path) ?? read(path);
  known.set(path, found);
  return found;
}

/** After an installation or upgrade. */
export function forgetIcons(): void {
  known.clear();
  iconRevision.value += 1;
}
