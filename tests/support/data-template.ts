// The data folder of a platform that was started once, for tests that begin with a platform and not with its first
// start: a copy takes a tenth of what a cluster, a schema and the packages take that are made anew.
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { systemCode } from '@platform/core/start';

/** Where the template of this run lies or will lie, on the disk of the temporary folder. */
const VARIABLE = 'PLATFORM_TEST_DATA_TEMPLATE';

export function withDataTemplate(env: NodeJS.ProcessEnv, runFolder: string): NodeJS.ProcessEnv {
  return { ...env, [VARIABLE]: path.join(runFolder, 'template') };
}

/**
 * Fills `folder` with a copy. The first caller of a run makes the template. A file that is run alone, or as another
 * user than the run, gets none, and its platform starts from nothing.
 *
 * @param startOnce starts a platform on a folder and stops it
 */
export async function copyStarted(folder: string, startOnce: (folder: string) => Promise<void>): Promise<void> {
  const template = process.env[VARIABLE];
  if (template === undefined || statSync(path.dirname(template)).uid !== process.getuid?.()) return;
  if (!existsSync(template)) await makeTemplate(template, startOnce);
  await copy(['-a'], path.join(template, 'data'), folder);
  // Programs are never written to, so hard links suffice.
  await copy(['-a', '--link'], path.join(template, 'programs'), path.join(folder, 'postgres'));
}

async function makeTemplate(template: string, startOnce: (folder: string) => Promise<void>): Promise<void> {
  const half = await mkdtemp(`${template}-`);
  // As root PostgreSQL runs as another user, who must get through.
  await chmod(half, 0o711);
  const data = path.join(half, 'data');
  await startOnce(data);
  await mkdir(path.join(half, 'programs'));
  const postgres = path.join(data, 'postgres');
  for (const name of await readdir(postgres)) {
    if (name.startsWith('bin-')) await rename(path.join(postgres, name), path.join(half, 'programs', name));
  }
  try {
    await rename(half, template);
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error;
    // Another test file was first.
    await rm(half, { recursive: true });
  }
}

async function copy(options: readonly string[], from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', [...options, `${from}/.`, to]);
}
