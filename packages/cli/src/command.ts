// What a command of the command line is.

export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text of `--help`. */
  readonly usage: string;
  /** @returns the exit code */
  run(args: readonly string[]): Promise<number>;
}

/** Invalid usage: printed in one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @returns what `parse` does; @throws UsageError with the words of `parseArgs` where it refuses the arguments */
export function understood<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    // Its first sentence; the rest is about a rare way of quoting.
    throw new UsageError((error instanceof Error ? error.message : String(error)).replace(/\. To .*/s, '.'));
  }
}

/**
 * @param written how the action is written, such as `./platform node rules [--json]`
 * @returns whether it shall answer with JSON; `--json` is all that it takes
 * @throws UsageError for anything else
 */
export function wantsJson(args: readonly string[], written: string): boolean {
  const [option, ...rest] = args;
  if (rest.length > 0 || (option !== undefined && option !== '--json')) throw new UsageError(`Write it as ${written}`);
  return option === '--json';
}
