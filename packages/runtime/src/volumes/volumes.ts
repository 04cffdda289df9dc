// The persistent folders of workloads on this node: one for each installation, kept when the app is removed, and as
// large as its manifest says where this machine can hold it to that.
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '../drivers/driver.ts';
import { modes } from '../modes.ts';
import { run } from '../run-command.ts';
import { findImageTools, type ImageTools, makeImage, mountImage, unmountImage } from './ext4-image.ts';
import { openKnownVolumes } from './known-volumes.ts';
import { mountsBelow } from './mounts.ts';

export interface VolumeRequest {
  readonly installationId: string;
  /** As root: who owns it. */
  readonly uid: number | undefined;
  readonly diskMiB: number;
}

export interface AttachedVolume {
  readonly folder: string;
  /** Call when nothing of the workload runs any more. */
  release(): Promise<void>;
}

export interface Volumes {
  /**
   * The volume of an installation, made at the first question; later ones find it as it was left.
   * @throws StartRefused when this machine has made one that is gone; Error when it is in use, or cannot be mounted now
   */
  attach(request: VolumeRequest): Promise<AttachedVolume>;
  /** Deletes the volume of an installation, also one that a driver made. @throws Error while it is in use */
  remove(installationId: string): Promise<void>;
  /** Whether one belongs to a user of its app alone. One that was made without root belongs to the user of this process. */
  haveOwners(): boolean;
  /** Whether an installation has one, also one that a driver made. */
  has(installationId: string): boolean;
  /**
   * Where the volume of an installation is or will be, for drivers that make volumes of their own and {@link noteMade}
   * them.
   *
   * @throws StartRefused as `attach`
   */
  place(installationId: string): string;
  /** Its volume is there now: it is never made again. */
  noteMade(installationId: string): void;
  /** Why the size of this volume is not limited, in a few words; undefined when it is. */
  unlimited(installationId: string): string | undefined;
  /** Unmounts volumes left by an earlier Runtime that are not in use, except those of the installations in `keep`. */
  sweep(keep?: Iterable<string>): Promise<void>;
}

/**
 * @param path the folder of the volumes; `<path>.known` says which ones were made
 * @param tools by default those of this machine, or why it has none
 */
export function openVolumes(path: string, tools: ImageTools | string = findImageTools()): Volumes {
  mkdirSync(path, { recursive: true });
  // As the kernel names it in its list of mounts.
  const directory = realpathSync(path);
  chmodSync(directory, modes.passage);
  // Beside the folder as it was named: that may be a link, or another disk is mounted there.
  const known = openKnownVolumes(`${path}.known`, readdirSync(directory));
  const attached = new Set<string>();
  /** Set when this machine turned out not to mount images after all. */
  let usable = tools;
  /** It has mounted one at some time: a failure is one of the moment then. */
  let proven = readdirSync(directory).some((name) => name.endsWith('.ext4'));

  const place = (installationId: string) => join(directory, installationId);
  const imageOf = (installationId: string) => `${place(installationId)}.ext4`;
  const isMounted = (folder: string) => mountsBelow(directory).some((mounted) => mounted.folder === folder);

  /** The mount point of an image is a folder, and no volume. @throws StartRefused */
  function requireThere(installationId: string): void {
    const kind = known.kindOf(installationId);
    const isThere = imagesOf(installationId).length > 0 || (kind === 'folder' && existsSync(place(installationId)));
    if (kind === null || isThere) return;
    const what = kind === 'image' ? `a file beside ${place(installationId)}` : `the folder ${place(installationId)}`;
    throw new StartRefused(
      `Its volume is missing on this machine: it was ${what}. Mount its disk, or restore it from a backup, and start the app again. To begin without its data, remove the file ${known.fileOf(installationId)} first.`,
    );
  }

  async function attach({ installationId, uid, diskMiB }: VolumeRequest): Promise<AttachedVolume> {
    const [folder, image] = [place(installationId), imageOf(installationId)];
    const isNew = !existsSync(folder) && !existsSync(image);
    requireThere(installationId);
    if (isNew && typeof usable !== 'string') {
      const made = await attachNew(usable, { folder, image, diskMiB, uid: uid ?? 0 });
      if (made !== undefined) return made;
    }
    if (existsSync(image)) {
      if (typeof usable === 'string') throw new Error(`the volume cannot be mounted: ${usable}`);
      makeMountPoint(folder);
      // Mounted already where a workload outlived its Runtime, or its Runtime could not unmount it.
      if (!isMounted(folder)) await mountImage(usable, { image, folder, diskMiB });
      return mounted(usable, folder);
    }
    if (!existsSync(folder)) {
      mkdirSync(folder, { mode: 0o700 });
      chmodSync(folder, 0o700);
      if (uid !== undefined) lchownSync(folder, uid, uid);
    }
    return { folder, release: async () => undefined };
  }

  /**
   * Undefined where the very first attempt shows that this machine cannot do it: then it never will.
   * @throws Error when it cannot be made just now
   */
  async function attachNew(
    images: ImageTools,
    parts: { readonly folder: string; readonly image: string; readonly diskMiB: number; readonly uid: number },
  ): Promise<AttachedVolume | undefined> {
    try {
      await makeImage(images, parts.image, parts);
      makeMountPoint(parts.folder);
      await mountImage(images, parts);
      return mounted(images, parts.folder);
    } catch (error) {
      rmSync(parts.image, { force: true });
      rmSync(parts.folder, { recursive: true, force: true });
      // A full disk says nothing about what the machine can do; a folder without a limit would stay one for ever.
      if (proven || /no space left/i.test(String(error))) throw error;
      usable = `this machine could not mount one of a limited size (${firstLine(error)})`;
      return undefined;
    }
  }

  function mounted(images: ImageTools, folder: string): AttachedVolume {
    proven = true;
    return { folder, release: () => unmountImage(images, folder) };
  }

  /** Images of every driver are named after the folder, what was not finished too. */
  const filesOf = (installationId: string) =>
    readdirSync(directory).filter((name) => name.startsWith(`${installationId}.`));
  const imagesOf = (installationId: string) => filesOf(installationId).filter((name) => !name.endsWith('.new'));

  return {
    place(installationId) {
      requireThere(installationId);
      return place(installationId);
    },
    haveOwners: () =>
      readdirSync(directory).some((name) => name.endsWith('.ext4') || lstatSync(place(name)).uid >= FIRST_OWNER),
    noteMade: (installationId) => known.add(installationId, 'image'),
    has: (installationId) => existsSync(place(installationId)) || imagesOf(installationId).length > 0,
    async attach(request) {
      const { installationId } = request;
      if (attached.has(installationId)) throw new Error(`the volume of ${installationId} is in use`);
      attached.add(installationId);
      try {
        const volume = await attach(request);
        known.add(installationId, existsSync(imageOf(installationId)) ? 'image' : 'folder');
        return {
          folder: volume.folder,
          release: () => volume.release().finally(() => attached.delete(installationId)),
        };
      } catch (error) {
        attached.delete(installationId);
        throw error;
      }
    },
    async remove(installationId) {
      if (attached.has(installationId)) throw new Error(`the volume of ${installationId} is in use`);
      attached.add(installationId);
      try {
        const folder = place(installationId);
        if (typeof usable !== 'string' && isMounted(folder)) await unmountImage(usable, folder);
        // First: were this process to end in between, what is left would be found again, and what is gone is not missed. A mount
        // point without its image would pass for a volume.
        known.forget(installationId);
        await removeFolder(folder);
        for (const file of filesOf(installationId)) await rm(join(directory, file), { force: true });
      } finally {
        attached.delete(installationId);
      }
    },
    unlimited(installationId) {
      if (existsSync(imageOf(installationId))) return undefined;
      if (typeof usable === 'string') return usable;
      return existsSync(place(installationId)) ? 'it was made without a limit by an earlier version' : undefined;
    },
    async sweep(keep = []) {
      if (typeof usable === 'string') return;
      for (const { folder } of mountsBelow(directory)) {
        const isUsed = [...attached, ...keep].some((installationId) => place(installationId) === folder);
        if (!isUsed) await unmountImage(usable, folder);
      }
    },
  };
}

/** The smallest user id that an app may get (identities.ts). */
const FIRST_OWNER = 30_000;

/** Whatever a workload made of the modes in it. */
async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await run(['chmod', '-R', 'u+rwX', folder], { limit: 60_000 });
    await rm(folder, { recursive: true, force: true });
  }
}

/** Inaccessible while nothing is mounted there, so that nothing is written beside the volume. */
function makeMountPoint(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
