// What may follow a command, as its usage says it: the one place where it is written down.
import type { Command } from '../command.ts';

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  /** Such as `list` and `token` of `node`. */
  readonly actions: readonly string[];
  /** Such as `--json`. */
  readonly options: readonly string[];
}

export function wordsOf(name: string, { summary, usage }: Command): Omit<CommandWords, 'name'> {
  // An action begins an indented line of the usage, or follows the command on a line that begins with it.
  const listed = usage.matchAll(/^ {2}([a-z][a-z|-]+)(?= )/gm);
  const written = usage.matchAll(new RegExp(`\\./platform ${name} ([a-z][a-z|-]+)(?![\\w/.])`, 'g'));
  const actions = [...listed, ...written].flatMap(([, words = '']) => words.split('|'));
  const options = [...usage.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option);
  return { summary, actions: [...new Set(actions)], options: [...new Set([...options, '--help'])].sort() };
}
