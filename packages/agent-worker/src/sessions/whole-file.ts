// A small file that is either as it was or as it is written, whatever happens meanwhile.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** @throws Error when the disk does not take it; the former content stays */
export function writeWhole(file: string, text: string): void {
  const descriptor = openSync(`${file}.new`, 'w', 0o600);
  try {
    // Unlike writeSync, it goes on after what a nearly full disk takes in part.
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${file}.new`, file);
}
