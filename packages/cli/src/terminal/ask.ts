// Asks the person at the terminal.
import { UsageError } from '../command.ts';
import { readAnswer, say } from './terminal.ts';

/**
 * @param without what to do where nobody can answer, as a sentence
 * @returns the line without blanks around it; empty when there was none
 * @throws UsageError when the input is no terminal
 */
export async function ask(question: string, without: string): Promise<string> {
  if (process.stdin.isTTY !== true) throw new UsageError(`There is no terminal here to answer on. ${without}`);
  say(question);
  return (await readAnswer()).trim();
}
