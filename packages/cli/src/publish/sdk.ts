// `platform sdk`: the SDK as a package of npm, for projects outside of the checkout.
import { stat } from 'node:fs/promises';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { packSdk } from '@platform/sdk/made-once';
import { type Command, UsageError, understood } from '../command.ts';
import { quoted } from '../init/next-commands.ts';
import { isPlainProject, renewPlatformFiles } from '../init/platform-files.ts';
import { paint, say } from '../terminal/terminal.ts';

export const sdkCommand: Command = {
  summary: 'write the SDK as an npm package, for a project of your own',
  usage: `Usage: ./platform sdk [<folder>]

Writes platform-sdk-<version>.tgz to the folder (default: this one) and prints the line that installs it. The package is
plain JavaScript with types, depends on nothing, and runs in Node 20.4 and later. Folders without package.json need none
of this: ./platform package, publish and dev add the SDK to the app.
In a project of ./platform init it also writes the manifest's schema and, in JavaScript, the types of this version.`,
  async run(args) {
    const { positionals } = understood(() => parseArgs({ args: [...args], allowPositionals: true }));
    const [named = '.', ...rest] = positionals;
    if (rest.length > 0) throw new UsageError('Name one folder: ./platform sdk <folder>');
    const folder = path.resolve(named);
    const isFolder = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw new UsageError(`${named} is not a folder. Create it first, or name another one.`);
    for (const name of await renewPlatformFiles(folder)) say(`${paint('green', '✓')} ${path.join(folder, name)}`);
    if (await isPlainProject(folder)) return 0;
    const file = await packSdk(folder);
    const inFolder = folder === process.cwd() ? '' : `cd ${quoted(named)} && `;
    say(`${paint('green', '✓')} ${file}`);
    say('Install it in your project, then import @platform/sdk in the backend and @platform/sdk/browser in the page:');
    say(`  ${inFolder}npm install ./${path.basename(file)}`);
    return 0;
  },
};
