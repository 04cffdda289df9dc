#!/usr/bin/env node
// The command line: finds the command, runs it, turns a refusal into one line and a non-zero exit.
import { didYouMean } from '@platform/contract';
import { errorInWords, keepToOwner, StartError } from '@platform/core/start';
import { type Command, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { readRelease, releaseText } from './local/release.ts';
import { complain, endWithReader, outliveReader, paint, say } from './terminal/terminal.ts';

async function help(): Promise<string> {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => `  ${name.padEnd(width)} ${(await load()).summary}`),
  );
  return `Usage: ./platform <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nSee ./platform <command> --help for details.`;
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'start' && rest.every((arg) => arg.startsWith('-'))) outliveReader();
  else endWithReader();
  if (name === undefined || isHelp(name) || name === 'help') {
    const [subject] = rest;
    say(name === 'help' && subject !== undefined ? (await commandNamed(subject)).usage : await help());
    return name === undefined ? EXIT.wrongUsage : EXIT.done;
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    say(releaseText(readRelease()));
    return EXIT.done;
  }
  // What the platform writes is its user's alone; packages and projects are made to be given away.
  if (name !== 'package' && name !== 'sdk' && name !== 'init') keepToOwner();
  const command = await commandNamed(name);
  if (rest.some(isHelp)) {
    say(command.usage);
    return EXIT.done;
  }
  return command.run(rest);
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

/** @throws UsageError when there is none of this name */
function commandNamed(name: string): Promise<Command> {
  if (Object.hasOwn(commands, name)) return commands[name as keyof typeof commands]();
  throw new UsageError(
    `Unknown command "${name}"${didYouMean(name, Object.keys(commands))}. \`./platform --help\` lists them.`,
  );
}

/** @returns never: the process ends */
function fail(error: unknown): never {
  const said = error instanceof StartError || error instanceof UsageError ? error.message : errorInWords(error);
  complain(`${paint('red', 'platform:', process.stderr)} ${said}`);
  process.exit(exitCodeOf(error));
}

// Node itself would print an error with everything that hangs on it, such as a connection.
process.on('uncaughtException', fail);
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
}, fail);
