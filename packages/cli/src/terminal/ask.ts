// Asks the person at the terminal.
import { UsageError } from '../command.ts';
import { complain, readAnswer, readLine, say } from './terminal.ts';

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

/**
 * Asks until `read` takes the answer, and says each time what is wrong with it.
 *
 * @param read throws UsageError for a wrong answer
 * @throws UsageError when the input is no terminal, or ends
 */
export async function askUntil<Answer>(
  question: string,
  without: string,
  read: (answer: string) => Answer,
): Promise<Answer> {
  if (process.stdin.isTTY !== true) throw new UsageError(`There is no terminal here to answer on. ${without}`);
  for (;;) {
    say(question);
    const line = await readLine();
    if (line === null) throw new UsageError(`There was no answer. ${without}`);
    try {
      return read(line.trim());
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      complain(error.message);
    }
  }
}
