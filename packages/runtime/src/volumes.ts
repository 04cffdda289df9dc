// The persistent folders of workloads on this node: one for each installation, kept when the app is removed.
import { chmodSync, existsSync, lchownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Volumes {
  /** The folder of an installation, made at the first question for `uid`; later ones find it as it was left. */
  folder(installationId: string, uid: number | undefined): string;
}

export function openVolumes(directory: string): Volumes {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o711);
  return {
    folder(installationId, uid) {
      const folder = join(directory, installationId);
      if (existsSync(folder)) return folder;
      mkdirSync(folder, { mode: 0o700 });
      chmodSync(folder, 0o700);
      if (uid !== undefined) lchownSync(folder, uid, uid);
      return folder;
    },
  };
}
