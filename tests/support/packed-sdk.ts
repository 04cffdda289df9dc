// The SDK as projects outside of this repository have it: written by `./platform sdk`, and installed by the line that
// this prints.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';

const PLATFORM = path.join(import.meta.dirname, '../../packages/cli/src/main.ts');
const run = promisify(execFile);

/** Makes `folder` a project that depends on the packed SDK, without asking a registry. */
export async function installPackedSdk(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const manifest = { name: 'outside', private: true, type: 'module' };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  const { stdout } = await run(process.execPath, [PLATFORM, 'sdk', '.'], { cwd: folder });
  const line = stdout.trim().split('\n').at(-1)?.trim() ?? '';
  if (!/^npm install \.\/platform-sdk-\d[\w.-]*\.tgz$/.test(line)) throw new Error(`No line to install by: ${stdout}`);
  const quiet = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  await run('sh', ['-c', line], { cwd: folder, env: { ...process.env, ...quiet } });
}
