// Finds Chromium for the browser tests, and installs it where we may: as root, with apt-get.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { SetupError, step } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

const programs = ['chromium', 'chromium-browser', 'google-chrome'];

/** Without a font of its own a page is measured and shown with empty boxes. */
const packages = ['chromium', 'fonts-dejavu-core'];

/**
 * The path of a Chromium, from `CHROMIUM_PATH` or the usual places; installs it when there is none.
 *
 * @throws {SetupError} saying what to install, when we may not.
 */
export async function requireChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && given !== '') {
    if (fs.existsSync(given)) return given;
    throw new SetupError(`CHROMIUM_PATH names ${given}, which does not exist.`);
  }
  const found = findProgram(programs);
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || findProgram(['apt-get']) === undefined) {
    throw new SetupError(
      'The browser tests need Chromium, which was not found. Install it (on Debian: sudo apt-get install chromium fonts-dejavu-core) or name it with CHROMIUM_PATH; PLATFORM_TEST_SKIP_BROWSER=1 npm test runs all other tests.',
    );
  }
  await installPackages('Chromium', packages);
  const installed = findProgram(programs);
  if (installed === undefined)
    throw new SetupError('apt-get installed chromium, but no such program was found after it.');
  return installed;
}

/** Installs bubblewrap when we may; without it workloads are confined by `unshare`, which is tested then. */
export async function installBubblewrap(): Promise<void> {
  if (findProgram(['bwrap']) !== undefined || process.getuid?.() !== 0 || findProgram(['apt-get']) === undefined)
    return;
  await installPackages('bubblewrap', ['bubblewrap']);
}

let updated = false;

async function installPackages(name: string, wanted: readonly string[]): Promise<void> {
  await step(`Installing ${name}`, `${name} installed`, async () => {
    // A new machine often runs its own updates; wait for those.
    if (!updated) await aptGet(['update']);
    updated = true;
    await aptGet(['install', '--yes', '--no-install-recommends', ...wanted]);
  });
}

async function aptGet(args: readonly string[]): Promise<void> {
  const { code, said } = await runQuietly('apt-get', ['-o', 'DPkg::Lock::Timeout=480', '-q', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (code === 0) return;
  throw new SetupError(`apt-get ${args.join(' ')} failed: ${said.trim().split('\n').slice(-3).join(' ')}`);
}

function findProgram(names: readonly string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/snap/bin'].filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => fs.existsSync(file));
}
