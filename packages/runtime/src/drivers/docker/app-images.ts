// Images of packages of runtime `oci`: loaded into the engine once, under a name that the platform chooses, and only
// after image-archive.ts has checked them. An image's configuration cannot name another image, create a volume, run a
// health check, or override the platform's environment variables.
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ImageReference, isImageAllowed, readImageReference } from '@platform/contract';
import { extract, pack } from 'tar-stream';
import type { Log } from '../../clock.ts';
import type { RequireRoom } from '../../disk-watch.ts';
import { LaunchError, StartRefused } from '../driver.ts';
import { followed } from './base-image.ts';
import { type Engine, engineMessage, engineStatus, isGone, labels, removed } from './engine.ts';
import { openFetchedImages } from './fetched-images.ts';
import { checkImageArchive, type ImageArchive, ImageArchiveError, readArchive } from './image-archive.ts';
import { RegistryError } from './registry.ts';

export interface AppImages {
  /**
   * The local name of the image that a package refers to: a file in its folder `app`, or an image of a registry,
   * which is pulled if it is missing. `abort` stops the wait, and the pull if no other caller waits for it.
   * @throws StartRefused in one sentence, when there is none that can be used; LaunchError when there may be one later
   */
  ensure(app: string, image: string, abort: AbortSignal): Promise<string>;
}

export interface AppImagesOptions {
  readonly engine: Engine;
  /** Other Runtimes on the same engine keep their own. */
  readonly owner: string;
  /** Registries from which images may come, as the contract's image-reference.ts reads them. */
  readonly registries: readonly string[];
  /** Where images are kept while they come, and when each was last used. Made if missing. */
  readonly folder: string;
  readonly requireRoom: RequireRoom;
  readonly log: Log;
}

const REPOSITORY = 'platform-app';
/** A container that outlived the Runtime has it. */
const IN_USE = 409;
const PLAIN_PATH = /^(?!.*(^|\/)\.{0,2}(\/|$))[\w.+\-/]+$/;
const RESERVED = /^(PLATFORM_|PROVIDER_)/;

export async function openAppImages(options: AppImagesOptions): Promise<AppImages> {
  const { engine, owner } = options;
  const fetched = openFetchedImages(options);
  await removeUnused(options, fetched.isKept);
  const known = new Map<string, Promise<string>>();

  async function fromFile(file: string): Promise<string> {
    // A failure was reported to the caller of that attempt; this one tries again.
    const before = await known.get(file)?.catch(() => undefined);
    // The image may have been removed from the engine since.
    if (before !== undefined && (await isThere(engine, before))) return before;
    const name = load(options, file);
    known.set(file, name);
    return name;
  }

  async function fromRegistry(reference: ImageReference, abort: AbortSignal): Promise<string> {
    refuseUnlessAllowed(reference, options.registries);
    const name = `${REPOSITORY}:${owner}-r${reference.digest.slice('sha256:'.length)}`;
    if (!(await isThere(engine, name))) {
      options.requireRoom();
      try {
        await fetched.fetch(reference, (file) => load(options, file, { name, digest: reference.digest }), abort);
      } catch (error) {
        if (!(error instanceof RegistryError)) throw error;
        const message = `Its image could not be fetched: ${error.message}`;
        throw error.passing ? new LaunchError(message, message) : new StartRefused(message);
      }
    }
    fetched.used(reference.digest);
    return name;
  }

  return {
    async ensure(app, image, abort) {
      const file = join(app, image);
      // What cannot be looked at is none, and is refused below by its name.
      const isFile = PLAIN_PATH.test(image) && (await lstat(file).catch(() => undefined))?.isFile() === true;
      if (isFile) return fromFile(file);
      const reference = readImageReference(image);
      if (reference !== undefined) return fromRegistry(reference, abort);
      throw new StartRefused(
        `The package has no file workload/${image.slice(0, 200)}; an image of a registry is named like registry.example/name@sha256:….`,
      );
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

/** Removes unused images that can be rebuilt locally or have long been idle. */
async function removeUnused(
  { engine, owner, log }: AppImagesOptions,
  isKept: (digest: string) => boolean,
): Promise<void> {
  const images = await engine.listImages({ filters: { label: [`${labels.role}=app`, `${labels.owner}=${owner}`] } });
  const unused = images.filter(({ Labels }) => {
    const digest = Labels?.[labels.digest];
    return digest === undefined || !isKept(digest);
  });
  const removals = unused.map(async ({ Id }) => {
    try {
      await removed(engine.getImage(Id).remove());
    } catch (error) {
      if (engineStatus(error) !== IN_USE)
        log.warn({ image: Id, reason: engineMessage(error) }, 'an unused image could not be removed');
    }
  });
  await Promise.all(removals);
}

/** What an image is called when it is not called after its archive. */
interface Called {
  readonly name: string;
  readonly digest: string;
}

async function load({ engine, owner, requireRoom }: AppImagesOptions, file: string, called?: Called): Promise<string> {
  let archive: ImageArchive;
  try {
    archive = await checkImageArchive(file);
  } catch (error) {
    if (error instanceof ImageArchiveError) throw new StartRefused(`The image of the package ${error.message}`);
    throw error;
  }
  const name = called?.name ?? `${REPOSITORY}:${owner}-${archive.hash.slice(0, 32)}`;
  if (await isThere(engine, name)) return name;
  requireRoom((await stat(file)).size);
  const tags = {
    [labels.role]: 'app',
    [labels.owner]: owner,
    ...(called === undefined ? {} : { [labels.digest]: called.digest }),
  };
  const body = new PassThrough();
  const [progress] = await Promise.all([
    engine.loadImage(body, { quiet: true }),
    write(body, file, { archive, name, tags }),
  ]);
  try {
    await followed(engine, progress);
  } catch (error) {
    // The engine's own disk may be another one.
    if (/no space left/i.test(String(error)))
      throw new LaunchError('The disk of the container engine is full.', String(error));
    throw new StartRefused(
      `The image of the package is not one that the container engine takes: ${String(error).slice(0, 200)}`,
    );
  }
  await engine.getImage(name).inspect();
  return name;
}

async function isThere(engine: Engine, name: string): Promise<boolean> {
  try {
    await engine.getImage(name).inspect();
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

interface Given {
  readonly archive: ImageArchive;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** An archive as the engine takes it, with our name and configuration, and the layers as they are. */
async function write(body: PassThrough, file: string, { archive, name, tags }: Given): Promise<void> {
  const { layers, config } = archive;
  const target = pack();
  target.pipe(body);
  const { Env, Entrypoint, Cmd, WorkingDir } = config.config ?? {};
  const kept = {
    os: config.os,
    architecture: config.architecture,
    rootfs: config.rootfs,
    config: {
      Env: (Env ?? []).filter((line) => !RESERVED.test(line)),
      Entrypoint: Entrypoint ?? null,
      Cmd: Cmd ?? null,
      WorkingDir: WorkingDir ?? '',
      Labels: tags,
    },
  };
  const paths = new Map(layers.map((layer, number) => [layer, `layer-${number}.tar`]));
  target.entry({ name: 'config.json' }, JSON.stringify(kept));
  target.entry(
    { name: 'manifest.json' },
    JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: layers.map((layer) => paths.get(layer)) }]),
  );
  const source = extract();
  // A failure ends the loop below as well.
  pipeline(readArchive(file), source).catch(() => undefined);
  for await (const entry of source) {
    const path = paths.get(entry.header.name.replace(/^(\.\/)+/, ''));
    if (path === undefined || entry.header.size === undefined) entry.resume();
    else await pipeline(entry, target.entry({ name: path, size: entry.header.size }));
  }
  target.finalize();
}
