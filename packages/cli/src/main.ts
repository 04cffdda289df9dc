#!/usr/bin/env node
// The command line: finds the command, runs it, turns a refusal into one line and a non-zero exit.
import { keepToOwner, PLATFORM_VERSION, StartError } from '@platform/core/start';
import { UsageError } from './command.ts';
import { commands } from './commands.ts';
import { complain, endWithReader, outliveReader, paint, say } from './terminal.ts';

async function help(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => `  ${name.padEnd(10)} ${(await load()).summary}`),
  );
  return `Usage: platform <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nSee platform <command> --help for details.`;
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'start' && rest.length === 0) outliveReader();
  else endWithReader();
  if (name === undefined || name === '--help' || name === 'help') {
    say(await help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    say(PLATFORM_VERSION);
    return 0;
  }
  if (!Object.hasOwn(commands, name))
    throw new UsageError(`Unknown command "${name}". \`platform --help\` lists them.`);
  // What the platform writes is its user's alone; a package is made to be given away.
  if (name !== 'package') keepToOwner();
  const command = await commands[name as keyof typeof commands]();
  if (rest.includes('--help')) {
    say(command.usage);
    return 0;
  }
  return command.run(rest);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof StartError || error instanceof UsageError) {
      complain(`${paint('red', 'platform:', process.stderr)} ${error.message}`);
      process.exit(error instanceof UsageError ? 2 : 1);
    }
    complain(
      `${paint('red', 'platform:', process.stderr)} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    process.exit(1);
  },
);
