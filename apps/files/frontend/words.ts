// How files are shown and found.
import type { FileTransfer, UserFile } from '@platform/sdk/browser';

export function matches({ name }: Pick<UserFile, 'name'>, words: string): boolean {
  const text = name.toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .trim()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** What a browser shows without running anything in it. */
export function previewOf({ type }: Pick<UserFile, 'type'>): 'picture' | 'text' | null {
  if (/^image\/(?:png|jpeg|gif|webp|avif)$/.test(type)) return 'picture';
  return /^text\/|^application\/json\b/.test(type) ? 'text' : null;
}

export function accessWords({ access }: Pick<FileTransfer, 'access'>): string {
  return access === 'read' ? 'may read it' : 'may read and change it';
}

/** At most four letters for its tile, such as `PDF`. */
export function endingOf({ name }: Pick<UserFile, 'name'>): string {
  return /\.([\p{L}\p{N}]{1,4})$/u.exec(name)?.[1]?.toLocaleUpperCase() ?? '…';
}
