// Runs a test file again on a small disk of its own: an ext4 file system in a file, as it is made by default, mounted in a mount
// namespace that ends with it. Nothing outside can be filled. Needs root.
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runNested } from './nested-run.ts';

/** Set inside: the folder on which the disk is mounted. */
const MARK = 'PLATFORM_TEST_OWN_DISK';
const MiB = 1024 * 1024;

export interface OwnDiskOptions {
  readonly sizeMiB: number;
  /** Milliseconds for the whole file. */
  readonly timeout: number;
  /** Who runs the tests inside. Default: root. `nobody` finds the checkout at a place of its own, and may write to the disk. */
  readonly as?: 'root' | 'nobody';
  /** Why it cannot be run here for another reason than the disk. Default: false. */
  readonly skip?: string | false;
}

/** Why there can be none here, with what to do; `false` where there can. */
function ownDiskUnavailable(): string | false {
  if (process.getuid?.() !== 0) return 'a disk of its own needs root: run the tests as root';
  return existsSync('/dev/loop-control') ? false : 'this machine offers no loop devices';
}

/**
 * Declares the tests of a file inside, or outside one test that runs the file there and shows what it said if it
 * failed. The temporary folder inside lies on the disk.
 */
export function onOwnDisk(url: string, options: OwnDiskOptions, declare: (folder: string) => void): void {
  const folder = process.env[MARK];
  if (folder !== undefined) {
    declare(folder);
    return;
  }
  test(
    'on a small disk of its own',
    { skip: options.skip || ownDiskUnavailable(), timeout: options.timeout },
    (context) => runInside(context, fileURLToPath(url), options),
  );
}

const INSIDE = `
  mount --make-rprivate /
  mkfs.ext4 -q -F "$1"
  mount -o loop "$1" "$2"
  chmod "$3" "$2"
  shift 3
  exec "$@"`;

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const AS_NOBODY = fileURLToPath(new URL('../../packages/runtime/test-support/as-nobody.sh', import.meta.url));

async function runInside(context: TestContext, file: string, { sizeMiB, as = 'root' }: OwnDiskOptions): Promise<void> {
  const outside = await mkdtemp(path.join(tmpdir(), 'platform-disk-'));
  context.after(() => rm(outside, { recursive: true, force: true }));
  await chmod(outside, 0o711);
  const [image, folder] = [path.join(outside, 'image'), path.join(outside, 'disk')];
  await writeFile(image, '', { mode: 0o600 });
  await truncate(image, sizeMiB * MiB);
  await mkdir(folder);
  // Two folders down: what else is mounted below the first one, nobody would lose.
  const checkout = path.join(outside, 'nobody', 'stage', 'checkout');
  await mkdir(checkout, { recursive: true, mode: 0o711 });
  const there = (place: string) => (as === 'root' ? place : place.replace(CHECKOUT, `${checkout}/`));
  await runNested(context, {
    walls: [
      ...['unshare', '--mount', '--', 'sh', '-euc', INSIDE, 'sh', image, folder],
      ...(as === 'root' ? ['0711'] : ['1777', 'sh', AS_NOBODY, CHECKOUT, checkout]),
    ],
    node: there(process.execPath),
    file: there(file),
    environment: { [MARK]: folder, TMPDIR: folder, ...(as === 'root' ? {} : { HOME: folder }) },
  });
}
