// The persistent folders of workloads on this node: one for each installation, kept when the app is removed, and as
// large as its manifest says where this machine can hold it to that.
import { chmodSync, existsSync, lchownSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { modes } from '../modes.ts';
import { run } from '../run-command.ts';
import { findImageTools, type ImageTools, makeImage, mountImage, unmountImage } from './ext4-image.ts';
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
   * @throws Error when it is in use, or cannot be mounted now
   */
  attach(request: VolumeRequest): Promise<AttachedVolume>;
  /** Deletes the volume of an installation, also one that a driver made. @throws Error while it is in use */
  remove(installationId: string): Promise<void>;
  /** Whether an installation has one, also one that a driver made. */
  has(installationId: string): boolean;
  /** Where the volume of an installation is or will be, for drivers that make volumes of their own. */
  place(installationId: string): string;
  /** Why the size of this volume is not limited, in a few words; undefined when it is. */
  unlimited(installationId: string): string | undefined;
  /** Unmounts volumes left by an earlier Runtime that are not in use, except those of the installations in `keep`. */
  sweep(keep?: Iterable<string>): Promise<void>;
}

/** @param tools by default those of this machine, or why it has none */
export function openVolumes(path: string, tools: ImageTools | string = findImageTools()): Volumes {
  mkdirSync(path, { recursive: true });
  // As the kernel names it in its list of mounts.
  const directory = realpathSync(path);
  chmodSync(directory, modes.passage);
  const attached = new Set<string>();
  /** Set when this machine turned out not to mount images after all. */
  let usable = tools;
  /** It has mounted one at some time: a failure is one of the moment then. */
  let proven = readdirSync(directory).some((name) => name.endsWith('.ext4'));

  const place = (installationId: string) => join(directory, installationId);
  const imageOf = (installationId: string) => `${place(installationId)}.ext4`;
  const isMounted = (folder: string) => mountsBelow(directory).some((mounted) => mounted.folder === folder);

  async function attach({ installationId, uid, diskMiB }: VolumeRequest): Promise<AttachedVolume> {
    const [folder, image] = [place(installationId), imageOf(installationId)];
    const isNew = !existsSync(folder) && !existsSync(image);
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
  const imagesOf = (installationId: string) =>
    readdirSync(directory).filter((name) => name.startsWith(`${installationId}.`));

  return {
    place,
    has: (installationId) => existsSync(place(installationId)) || imagesOf(installationId).length > 0,
    async attach(request) {
      const { installationId } = request;
      if (attached.has(installationId)) throw new Error(`the volume of ${installationId} is in use`);
      attached.add(installationId);
      try {
        const volume = await attach(request);
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
        for (const file of imagesOf(installationId)) await rm(join(directory, file), { force: true });
        await removeFolder(folder);
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
