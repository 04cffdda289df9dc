// Read-only images that machines boot from: the base with Node, one for each package, and the initramfs. Each is made
// once, named after what it is made of, and readable by the users that machines run as.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LaunchError } from '../driver.ts';

const run = promisify(execFile);

export interface Images {
  /**
   * The image of a folder, made at the first question.
   * @throws LaunchError when it cannot be made.
   */
  ofFolder(folder: string): Promise<string>;
  /** The image named `name-<hash of identity>`, from whatever `fill` puts into the folder that it is given. */
  built(name: string, identity: string, fill: (folder: string) => Promise<void>): Promise<string>;
  /** A file that is no image of a folder, kept by the same rule. */
  file(name: string, identity: string, make: () => Promise<Buffer>): Promise<string>;
}

/** Packages whose images are kept; of more the longest unused go, unless a machine has them open. */
const KEPT = 64;

/** @param directory Made if missing. */
export function openImages(directory: string, makeErofs: string): Images {
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  chmodSync(directory, 0o711);
  removeUnfinished(directory);
  const underWay = new Map<string, Promise<string>>();

  /** Two starts of one package make its image once. */
  function once(file: string, make: (temporary: string) => Promise<void>): Promise<string> {
    const existing = underWay.get(file);
    if (existing !== undefined) return existing;
    const work = settle(file, make).finally(() => underWay.delete(file));
    underWay.set(file, work);
    return work;
  }

  async function settle(file: string, make: (temporary: string) => Promise<void>): Promise<string> {
    if (existsSync(file)) {
      utimesSync(file, new Date(), new Date());
      return file;
    }
    const temporary = mkdtempSync(join(directory, `making-${process.pid}-`));
    try {
      const made = join(temporary, 'image');
      await make(made);
      chmodSync(made, 0o644);
      renameSync(made, file);
      return file;
    } catch (error) {
      throw new LaunchError('The image of the app could not be made on this machine.', String(error));
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }

  const pack = (image: string, folder: string) =>
    run(makeErofs, ['--quiet', '--all-root', '-T0', '-x-1', image, folder], { env: { PATH: '/usr/bin:/bin' } });

  return {
    async ofFolder(folder) {
      const file = join(directory, `app-${hash(describeTree(folder))}`);
      const image = await once(file, async (temporary) => {
        await pack(temporary, folder);
      });
      forgetUnused(directory);
      return image;
    },
    built: (name, identity, fill) =>
      once(join(directory, `${name}-${hash(identity)}`), async (temporary) => {
        const tree = `${temporary}-tree`;
        mkdirSync(tree);
        await fill(tree);
        await pack(temporary, tree);
      }),
    file: (name, identity, make) =>
      once(join(directory, `${name}-${hash(identity)}`), async (temporary) => writeFileSync(temporary, await make())),
  };
}

/** What says that a file of the system is still the same, without reading a hundred megabytes at each start. */
export function describeFile(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${path} ${size} ${mtimeMs} ${ino}`;
}

/** Names and contents of a package: it was verified when it came, so it is small enough to be read whole. */
function describeTree(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${statSync(path).mode} ${hash(readFileSync(path))}` : path;
    })
    .sort()
    .join('\n')
    .replaceAll(folder, '');
}

/** What processes that were killed had begun. */
function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory)) {
    const maker = /^making-(\d+)-/.exec(name)?.[1];
    if (maker === undefined || existsSync(`/proc/${maker}`)) continue;
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}

function forgetUnused(directory: string): void {
  const apps = readdirSync(directory)
    .filter((name) => name.startsWith('app-'))
    .map((name) => ({ path: join(directory, name), used: statSync(join(directory, name)).mtimeMs }))
    .sort((one, other) => other.used - one.used);
  // A running machine holds its image open; the name alone goes.
  for (const { path } of apps.slice(KEPT)) rmSync(path, { force: true });
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
