// The SDK as projects outside of this repository have it: packed, and installed from the package.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { packSdk } from '../../scripts/pack-sdk/pack.ts';

/** Makes `folder` a project that depends on the packed SDK, without asking a registry. */
export async function installPackedSdk(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = await packSdk(folder);
  const manifest = { name: 'outside', private: true, type: 'module' };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  const install = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', file];
  await promisify(execFile)('npm', install, { cwd: folder });
}
