// A checkout as a newcomer has it after cloning: the sources of this one, nothing built, with the packages of this one.
import { copyFile, cp, mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../..');
/** What git ignores, and git itself. */
const LEFT_OUT = new Set(['.git', '.platform', 'coverage', 'dist', 'node_modules', 'screenshots', 'target']);

export interface CheckoutCopy {
  readonly root: string;
  remove(): Promise<void>;
}

export async function copyCheckout(): Promise<CheckoutCopy> {
  const root = await mkdtemp(path.join(tmpdir(), 'checkout-'));
  for (const name of await readdir(ROOT)) {
    if (LEFT_OUT.has(name)) continue;
    await cp(path.join(ROOT, name), path.join(root, name), {
      recursive: true,
      filter: (file) => !LEFT_OUT.has(path.basename(file)),
    });
  }
  await linkPackages(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  return { root, remove: () => rm(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Our own packages are those of the copy; the others are too large to be copied. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    // Where Vite writes while it builds.
    if (entry.name.startsWith('.vite')) continue;
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.name === '@platform') {
      await mkdir(target);
      for (const name of await readdir(source))
        await symlink(await readlink(path.join(source, name)), path.join(target, name));
    } else if (entry.isFile()) await copyFile(source, target);
    else await symlink(source, target);
  }
}
