// What the author of a new project types next, as it works from where they are.
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import * as path from 'node:path';
import { ownNode } from '../dev/build.ts';
import type { Language } from './choose-project.ts';

const PLATFORM = path.join(import.meta.dirname, '../../../../platform');

export interface NextCommand {
  readonly command: string;
  readonly effect: string;
}

export function nextCommands(folder: string, language: Language): readonly NextCommand[] {
  const platform = isOnPath() ? 'platform' : quoted(PLATFORM);
  const enter = path.resolve(folder) === process.cwd() ? [] : [`cd ${quoted(folder)}`];
  // Both: npm leaves out the parts of Vite that its Node cannot run.
  const npm = hasNodeForVite() ? 'npm' : `PATH=${quoted(ownNode())}:$PATH npm`;
  const install = language === 'typescript' ? [`${npm} install`] : [];
  const build = language === 'typescript' ? [`${npm} run build`] : [];
  const first = [...enter, ...install].join(' && ');
  return [
    ...(first === ''
      ? []
      : [{ command: first, effect: install.length > 0 ? 'installs Vite and the SDK' : 'the project' }]),
    { command: `${platform} dev`, effect: 'installs the app for you, and again on every change' },
    { command: [...build, `${platform} publish`].join(' && '), effect: 'publishes it in the Store' },
  ];
}

/** Whether the Node on the PATH can run Vite: `engines` of the templates' package.json. */
function hasNodeForVite(): boolean {
  const { stdout } = spawnSync('node', ['--version'], { encoding: 'utf8' });
  const [major = 0, minor = 0] =
    /^v(\d+)\.(\d+)\./
      .exec(stdout ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  return major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
}

/** Whether `platform` on the PATH is this one. */
function isOnPath(): boolean {
  const folder = (process.env.PATH ?? '').split(path.delimiter).find((one) => realPath(path.join(one, 'platform')));
  return folder !== undefined && realPath(path.join(folder, 'platform')) === realPath(PLATFORM);
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** For a shell. */
export function quoted(name: string): string {
  return /^[\w./~-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
