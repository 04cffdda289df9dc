// Images of packages of runtime `oci`: given to the engine once, under a name of ours, and only as image-archive.ts has
// checked them. What an image says about itself cannot name another image, make a volume, run a check at times of its
// own choosing, or speak for the platform in the environment.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack } from 'tar-stream';
import { StartRefused } from '../driver.ts';
import { followed } from './base-image.ts';
import { type Engine, isGone, labels, removed } from './engine.ts';
import { checkImageArchive, type ImageArchive, ImageArchiveError, readArchive } from './image-archive.ts';

export interface AppImages {
  /**
   * Name of the image in the file `workload/<image>` of a package, whose folder is immutable.
   * @throws StartRefused in one sentence, when there is none that can be used
   */
  ensure(app: string, image: string): Promise<string>;
}

const REPOSITORY = 'platform-app';
const PLAIN_PATH = /^(?!.*(^|\/)\.{0,2}(\/|$))[\w.+\-/]+$/;
const RESERVED = /^(PLATFORM_|PROVIDER_)/;

/** @param owner Other Runtimes on the same engine keep their own. */
export async function openAppImages(engine: Engine, owner: string): Promise<AppImages> {
  await removeUnused(engine, owner);
  const known = new Map<string, Promise<string>>();
  return {
    async ensure(app, image) {
      const file = join(app, image);
      const before = await known.get(file)?.catch(() => undefined);
      // Somebody may have tidied up the engine since.
      if (before !== undefined && (await isThere(engine, before))) return before;
      const name = load(engine, owner, app, image);
      known.set(file, name);
      return name;
    },
  };
}

/** Those that no container uses; what is needed again is given again. */
async function removeUnused(engine: Engine, owner: string): Promise<void> {
  const images = await engine.listImages({ filters: { label: [`${labels.role}=app`, `${labels.owner}=${owner}`] } });
  await Promise.all(images.map(({ Id }) => removed(engine.getImage(Id).remove()).catch(() => undefined)));
}

async function load(engine: Engine, owner: string, app: string, image: string): Promise<string> {
  const file = join(app, image);
  const isFile = PLAIN_PATH.test(image) && (await lstat(file).catch(() => undefined))?.isFile() === true;
  if (!isFile) {
    throw new StartRefused(
      `The package has no file workload/${image.slice(0, 200)}, and this machine takes no images from registries.`,
    );
  }
  let archive: ImageArchive;
  try {
    archive = await checkImageArchive(file);
  } catch (error) {
    if (error instanceof ImageArchiveError) throw new StartRefused(`The image of the package ${error.message}`);
    throw error;
  }
  const name = `${REPOSITORY}:${owner}-${archive.hash.slice(0, 32)}`;
  if (await isThere(engine, name)) return name;
  const body = new PassThrough();
  const [progress] = await Promise.all([
    engine.loadImage(body, { quiet: true }),
    write(body, file, { archive, name, owner }),
  ]);
  try {
    await followed(engine, progress);
  } catch (error) {
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

/** An archive as the engine takes it, with our name and configuration, and the layers as they are. */
async function write(
  body: PassThrough,
  file: string,
  { archive, name, owner }: { readonly archive: ImageArchive; readonly name: string; readonly owner: string },
): Promise<void> {
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
      Labels: { [labels.role]: 'app', [labels.owner]: owner },
    },
  };
  const paths = new Map(layers.map((layer, number) => [layer, `layer-${number}.tar`]));
  target.entry({ name: 'config.json' }, JSON.stringify(kept));
  target.entry(
    { name: 'manifest.json' },
    JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: layers.map((layer) => paths.get(layer)) }]),
  );
  const source = extract();
  pipeline(readArchive(file), source).catch(() => undefined);
  for await (const entry of source) {
    const path = paths.get(entry.header.name.replace(/^(\.\/)+/, ''));
    if (path === undefined || entry.header.size === undefined) entry.resume();
    else await pipeline(entry, target.entry({ name: path, size: entry.header.size }));
  }
  target.finalize();
}
