// How files are shown and found.
import type { FileTransfer, UserFile } from '@platform/sdk/browser';

const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

export function sizeOf({ size }: Pick<UserFile, 'size'>): string {
  let value = size;
  let unit = 0;
  for (; value >= 1_024 && unit < UNITS.length - 1; unit += 1) value /= 1_024;
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

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
