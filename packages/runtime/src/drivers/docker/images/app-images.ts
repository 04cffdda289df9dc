// Images of packages of runtime `oci`: loaded into the engine once, under a name that the platform chooses, and only after
// image-archive.ts has checked them. An image's configuration cannot name another image, create a volume, run a health
// check, or override the platform's environment variables. They stay while an installation refers to them.
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImageReference, isImageAllowed, readImageReference } from '@platform/contract';
import type { Log } from '../../../clock.ts';
import type { RequireRoom } from '../../../disk-watch.ts';
import { LaunchError, StartRefused } from '../../driver.ts';
import { type Engine, engineMessage, engineStatus, isGone, labels, removed } from '../engine.ts';
import { openFetchedImages } from './fetched-images.ts';
import { ImageArchiveError } from './image-archive-error.ts';
import { ClaimRefused, createLoader, type Loader } from './image-loader.ts';
import { EngineRefusal } from './load-image.ts';
import { RegistryError } from './registry.ts';

/** The image that a package names, and the folder `workload/` of that package. */
export interface ImageOfPackage {
  readonly app: string;
  readonly image: string;
}

export interface ImageNeed extends ImageOfPackage {
  /** Stops the wait, and what is done for it if no other caller waits. */
  readonly abort: AbortSignal;
  /** Told what the image takes in the engine, before it takes it. What this throws is the outcome. */
  readonly claim: (bytes: number) => Promise<void>;
}

export interface AppImages {
  /**
   * The local name of the image that a package refers to: a file in its folder, or an image of a registry, which is
   * pulled if it is missing.
   * @throws the errors of `claim`, StartRefused in one sentence, when there is none that can be used; LaunchError when there may be one later
   */
  ensure(need: ImageNeed): Promise<string>;
  /** Removes all others, except those that a container still uses, which go with a later call. */
  keepOnly(images: readonly ImageOfPackage[]): Promise<void>;
}

export interface AppImagesOptions {
  readonly engine: Engine;
  /** Of the engine, for threads that connect by themselves. */
  readonly socketPath: string;
  /** Other Runtimes on the same engine keep their own. */
  readonly owner: string;
  /** Registries from which images may come, as the contract's image-reference.ts reads them. */
  readonly registries: readonly string[];
  /** Where archives are kept while they come. Made if missing. */
  readonly folder: string;
  readonly requireRoom: RequireRoom;
  /** Default: it has room for all. */
  readonly requireEngineRoom?: RequireRoom;
  /** Whether the engine copies what is below a layer into each, as its storage driver `vfs` does. Default: no. */
  readonly copiesLayers?: boolean;
  readonly log: Log;
}

const REPOSITORY = 'platform-app';
/** A container has it. */
const IN_USE = 409;
const PLAIN_PATH = /^(?!.*(^|\/)\.{0,2}(\/|$))[\w.+\-/]+$/;

export function openAppImages(options: AppImagesOptions): AppImages {
  const { engine, owner } = options;
  const fetched = openFetchedImages(options);
  const loader = createLoader(options);
  /** By name: what is wrong with the image of a package, which does not change. */
  const faults = new Map<string, string>();

  const nameOf = ({ app, image }: ImageOfPackage): string => {
    const reference = readImageReference(image);
    if (reference !== undefined) return `${REPOSITORY}:${owner}-r${reference.digest.slice('sha256:'.length)}`;
    return `${REPOSITORY}:${owner}-${createHash('sha256').update(`${app}\0${image}`).digest('hex').slice(0, 32)}`;
  };

  async function load(need: ImageNeed, name: string): Promise<void> {
    const fault = faults.get(name);
    if (fault !== undefined) throw new StartRefused(fault);
    const file = join(need.app, need.image);
    // What cannot be looked at is none, and is refused below by its name.
    const isFile = PLAIN_PATH.test(need.image) && (await lstat(file).catch(() => undefined))?.isFile() === true;
    if (isFile) return fromFile(loader, { file, name, ...need });
    const reference = readImageReference(need.image);
    if (reference !== undefined) return fromRegistry(reference, name, need);
    throw new StartRefused(
      `The package has no file workload/${need.image.slice(0, 200)}; an image of a registry is named like registry.example/name@sha256:….`,
    );
  }

  async function fromRegistry(reference: ImageReference, name: string, need: ImageNeed): Promise<void> {
    options.requireRoom();
    try {
      await fetched.fetch(reference, (file) => fromFile(loader, { ...need, file, name }), need.abort);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      const message = `Its image could not be fetched: ${error.message}`;
      throw error.passing ? new LaunchError(message, message) : new StartRefused(message);
    }
  }

  return {
    async ensure(need) {
      const reference = readImageReference(need.image);
      if (reference !== undefined) refuseUnlessAllowed(reference, options.registries);
      const name = nameOf(need);
      for (;;) {
        const here = await diskBytesOf(engine, name);
        if (here !== undefined) {
          await need.claim(here);
          return name;
        }
        try {
          await load(need, name);
        } catch (error) {
          if (error instanceof FaultyImage) faults.set(name, error.message);
          if (!(error instanceof ClaimRefused)) throw error;
          // What another caller may not take, this one may.
          if (error.claim === need.claim) throw error.cause;
        }
      }
    },
    async keepOnly(images) {
      const wanted = new Set(images.map(nameOf));
      for (const name of faults.keys()) if (!wanted.has(name)) faults.delete(name);
      await removeOthers(options, (name) => wanted.has(name) || loader.isLoading(name));
    },
  };
}

function refuseUnlessAllowed(reference: ImageReference, registries: readonly string[]): void {
  if (isImageAllowed(reference, registries)) return;
  const { registry, repository } = reference;
  throw new StartRefused(
    `This machine does not allow images from ${registry}/${repository}: its operator has not listed it in PLATFORM_RUNTIME_IMAGE_REGISTRIES.`,
  );
}

/** Refused for what the image itself is, whenever it is tried. */
class FaultyImage extends StartRefused {}

async function fromFile(
  loader: Loader,
  { file, name, claim }: Pick<ImageNeed, 'claim'> & { readonly file: string; readonly name: string },
): Promise<void> {
  try {
    await loader.load({ file, name, claim });
  } catch (error) {
    if (error instanceof ImageArchiveError) throw new FaultyImage(`The image of the package ${error.message}`);
    if (!(error instanceof EngineRefusal)) throw error;
    // The engine's own disk may be another one.
    if (/no space left/i.test(error.message))
      throw new LaunchError('The disk of the container engine is full.', error.message);
    throw new StartRefused(
      `The image of the package is not one that the container engine takes: ${error.message.slice(0, 200)}`,
    );
  }
}

/**
 * What the image takes in the engine, as counted before it was loaded; `undefined` when it is not there, or is of a former version
 * that did not count.
 */
async function diskBytesOf(engine: Engine, name: string): Promise<number | undefined> {
  try {
    const { Config } = await engine.getImage(name).inspect();
    const counted = Config?.Labels?.[labels.diskBytes];
    return counted === undefined ? undefined : Number(counted);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function removeOthers(
  { engine, owner, log }: AppImagesOptions,
  isKept: (name: string) => boolean,
): Promise<void> {
  const images = await engine.listImages({ filters: { label: [`${labels.role}=app`, `${labels.owner}=${owner}`] } });
  const unwanted = images.flatMap(({ Id, RepoTags }) =>
    RepoTags === undefined || RepoTags === null || RepoTags.length === 0
      ? [Id]
      : RepoTags.filter((name) => !isKept(name)),
  );
  const removals = unwanted.map(async (name) => {
    try {
      await removed(engine.getImage(name).remove());
    } catch (error) {
      if (engineStatus(error) !== IN_USE)
        log.warn({ image: name, reason: engineMessage(error) }, 'an unused image could not be removed');
    }
  });
  await Promise.all(removals);
}
