// Folders for tests that sandbox users can enter, and workloads in them.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from './unmount.ts';

export interface Place {
  readonly folder: string;
  /** A workload folder that holds one file, from `testing/workloads/` or given as text. */
  workload(name: string, source?: string): string;
  remove(): void;
}

export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'pt-'));
  chmodSync(folder, 0o711);
  return placeAt(folder);
}

/** A place that another process has made. */
export function placeAt(folder: string): Place {
  return {
    folder,
    workload(name, source) {
      const app = mkdtempSync(join(folder, 'app-'));
      chmodSync(app, 0o755);
      const file = join(app, 'index.mjs');
      if (source === undefined) cpSync(new URL(`workloads/${name}.mjs`, import.meta.url), file);
      else writeFileSync(file, source);
      chmodSync(file, 0o644);
      return app;
    },
    remove() {
      unmountBelow(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function makeVolume(
  place: Place,
  name: string,
  uid: number | undefined,
  chown: (path: string, uid: number) => void,
): string {
  const volume = join(place.folder, name);
  mkdirSync(volume, { mode: 0o700 });
  if (uid !== undefined) chown(volume, uid);
  return volume;
}
