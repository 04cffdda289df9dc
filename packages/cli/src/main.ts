#!/usr/bin/env node
// The command line: finds the command, runs it, turns a refusal into one line and a non-zero exit.
import { PLATFORM_VERSION, StartError } from '@platform/core/start';
import { UsageError } from './command.ts';
import { commands } from './commands.ts';
import { endWithReader, outliveReader, paint } from './terminal.ts';

async function help(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => `  ${name.padEnd(10)} ${(await load()).summary}`),
  );
  return `Usage: platform <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nSee platform <command> --help for details.\n`;
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'start' && rest.length === 0) outliveReader();
  else endWithReader();
  if (name === undefined || name === '--help' || name === 'help') {
    process.stdout.write(await help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    process.stdout.write(`${PLATFORM_VERSION}\n`);
    return 0;
  }
  if (!Object.hasOwn(commands, name))
    throw new UsageError(`Unknown command "${name}". \`platform --help\` lists them.`);
  const command = await commands[name as keyof typeof commands]();
  if (rest.includes('--help')) {
    process.stdout.write(`${command.usage}\n`);
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
      process.stderr.write(`${paint('red', 'platform:')} ${error.message}\n`);
      process.exit(error instanceof UsageError ? 2 : 1);
    }
    process.stderr.write(
      `${paint('red', 'platform:')} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);
