// Which volumes this machine has made, kept beside the volumes and not among them: a volume that is missing was lost with its
// disk, or a disk is not mounted, and an empty one in its place would pass for the app's data (docs/decisions/absence.md).
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file with a file system in it, whose mount point is a folder too; or a folder. */
export type VolumeKind = 'image' | 'folder';

export interface KnownVolumes {
  /** `null` for one that was never made here. */
  kindOf(installationId: string): VolumeKind | null;
  /** Survives a loss of power. */
  add(installationId: string, kind: VolumeKind): void;
  forget(installationId: string): void;
  /** By what the operator says that a volume may be made anew: without this file it is. */
  fileOf(installationId: string): string;
}

/**
 * A folder with a file for each volume. Read at each question, so that an operator who removes a file is understood at
 * once.
 *
 * @param found names among the volumes: also those of a version that noted none
 */
export function openKnownVolumes(folder: string, found: readonly string[]): KnownVolumes {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (installationId: string) => join(folder, installationId);
  function kindOf(installationId: string): VolumeKind | null {
    try {
      return readFileSync(fileOf(installationId), 'utf8') === 'folder' ? 'folder' : 'image';
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }
  function add(installationId: string, kind: VolumeKind): void {
    if (kindOf(installationId) === kind) return;
    // As a whole: half a file would say that it was of the other kind.
    const draft = join(folder, `.${installationId}`);
    writeFileSync(draft, kind, { mode: 0o600, flush: true });
    renameSync(draft, fileOf(installationId));
  }
  for (const name of readdirSync(folder)) if (name.startsWith('.')) rmSync(join(folder, name));
  const known = new Set(readdirSync(folder));
  const images = new Set(found.flatMap((name) => (name.includes('.') && !name.endsWith('.new') ? [idOf(name)] : [])));
  for (const id of new Set(found.map(idOf)))
    if (!known.has(id) && id !== '') add(id, images.has(id) ? 'image' : 'folder');
  return {
    kindOf,
    add,
    fileOf,
    forget: (installationId) => rmSync(fileOf(installationId), { force: true }),
  };
}

/** Images are named after the folder, with an ending. */
function idOf(name: string): string {
  return name.replace(/\..*$/, '');
}
