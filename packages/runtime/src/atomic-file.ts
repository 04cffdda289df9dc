// Writes a file so that a reader, or the next start after a crash, finds either the old content or the new.
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** @param mode Permissions of the new file, e.g. 0o600, whatever the umask is. */
export function writeFileAtomically(file: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${file}.new`;
  const descriptor = openSync(temporary, 'w', mode);
  try {
    fchmodSync(descriptor, mode);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
  syncToDisk(dirname(file));
}

/** A file that somebody else has written, or the names in a folder. */
export function syncToDisk(place: string): void {
  const descriptor = openSync(place, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
