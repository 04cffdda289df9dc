#!/usr/bin/env node
// The command line: finds the command, runs it, turns a refusal into one line and a non-zero exit.
import { didYouMean } from '@platform/contract';
import { errorInWords, keepToOwner, StartError } from '@platform/core/start';
import { UsageError } from './command.ts';
import { commands } from './commands.ts';
import { readRelease, releaseText } from './local/release.ts';
import { complain, endWithReader, outliveReader, paint, say } from './terminal/terminal.ts';

async function help(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => `  ${name.padEnd(10)} ${(await load()).summary}`),
  );
  return `Usage: ./platform <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nSee ./platform <command> --help for details.`;
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'start' && rest.every((arg) => arg.startsWith('-'))) outliveReader();
  else endWithReader();
  if (name === undefined || name === '--help' || name === 'help') {
    say(await help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    say(releaseText(readRelease()));
    return 0;
  }
  if (!Object.hasOwn(commands, name))
    throw new UsageError(
      `Unknown command "${name}"${didYouMean(name, Object.keys(commands))}. \`./platform --help\` lists them.`,
    );
  // What the platform writes is its user's alone; packages and projects are made to be given away.
  if (name !== 'package' && name !== 'sdk' && name !== 'init') keepToOwner();
  const command = await commands[name as keyof typeof commands]();
  if (rest.includes('--help')) {
    say(command.usage);
    return 0;
  }
  return command.run(rest);
}

/** @returns never: the process ends */
function fail(error: unknown): never {
  const said = error instanceof StartError || error instanceof UsageError ? error.message : errorInWords(error);
  complain(`${paint('red', 'platform:', process.stderr)} ${said}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

// Node itself would print an error with everything that hangs on it, such as a connection.
process.on('uncaughtException', fail);
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
}, fail);
