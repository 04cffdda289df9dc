// `platform init`: a new project of an app, which runs and can be published as it is.
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { type Command, UsageError, understood } from '../command.ts';
import { paint, say, step } from '../terminal/terminal.ts';
import { chooseProject, KINDS, LANGUAGES } from './choose-project.ts';
import { requireFree } from './free-folder.ts';
import { nextCommands } from './next-commands.ts';
import { writeProject } from './write-project.ts';

export const initCommand: Command = {
  summary: 'make the project of a new app',
  usage: `Usage: ./platform init <folder> [--kind ${KINDS.join('|')}] [--language ${LANGUAGES.join('|')}]
                       [--name <name>] [--id <id>]

Makes the project of a new app in the folder, which must be empty or not there yet. On a terminal it asks for what the
options leave open.
  --kind      frontend: a page; backend: a program on the server; both
  --language  javascript: without a build; typescript: built with Vite
  --name      what people read (default: made from the name of the folder)
  --id        the app's own name on the platform, which cannot be changed later (default: made from the name of the folder)`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({
        args: [...args],
        allowPositionals: true,
        options: {
          kind: { type: 'string' },
          language: { type: 'string' },
          name: { type: 'string' },
          id: { type: 'string' },
        },
      }),
    );
    const [folder, ...rest] = positionals;
    if (folder === undefined || rest.length > 0) throw new UsageError('Name one folder: ./platform init <folder>');
    await requireFree(folder);
    const project = await chooseProject(path.basename(path.resolve(folder)), values);
    const files = await step(`${project.name} (${project.id}) in ${folder}`, () => writeProject(folder, project));
    for (const file of files) say(`  ${file}`);
    say('Next:');
    for (const { command, effect } of nextCommands(folder, project.language))
      say(`  ${command}  ${paint('dim', `# ${effect}`)}`);
    return 0;
  },
};
