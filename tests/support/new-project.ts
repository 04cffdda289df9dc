// What `npm install` does in a project of `platform init`, with the packages of the checkout instead of a registry's.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '../..');

export async function installFromCheckout(project: string): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile(path.join(project, 'package.json'), 'utf8'));
  const { devDependencies: ours } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  const packages = path.join(project, 'node_modules');
  await mkdir(path.join(packages, '.bin'), { recursive: true });
  for (const [name, version] of Object.entries<string>(devDependencies)) {
    const target = path.join(packages, name);
    await mkdir(path.dirname(target), { recursive: true });
    if (version.startsWith('file:')) await unpack(path.join(project, version.slice('file:'.length)), target);
    else {
      assert.equal(version, ours[name], `the template names another version of ${name} than the checkout has`);
      await symlink(path.join(ROOT, 'node_modules', name), target);
    }
  }
  for (const program of ['tsc', 'vite'])
    await symlink(path.join(ROOT, 'node_modules/.bin', program), path.join(packages, '.bin', program));
}

async function unpack(file: string, target: string): Promise<void> {
  await mkdir(target);
  await promisify(execFile)('tar', ['-xzf', file, '--strip-components=1', '-C', target]);
}
