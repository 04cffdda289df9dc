// The refusal to start that a person can cure: a port in use, a folder that cannot be written.
// The command line prints its message as one line and exits with 1, without a stack.
import { formFault } from '@platform/contract';
import * as z from 'zod';

/**
 * A start that was refused for a reason outside the program.
 *
 * `message` is one line: what is wrong, the detail, and how to solve it. It may name paths of
 * this machine, so it belongs on the operator's terminal and never in an HTTP answer.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** Stable, for tests and scripts, such as `data_folder_in_use`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.code = code;
  }
}

/** The system's error code (`EACCES`, …) of a caught value, if it has one. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file, not a folder',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'the path goes round in a circle of links',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
};

/** A system error or an unexpected form in plain words, for the middle of a sentence; a StartError in its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof StartError) return error.message;
  if (error instanceof z.ZodError) return formFault(error);
  const code = systemCode(error);
  if (code !== undefined) return reasons[code] ?? code;
  return error instanceof Error ? error.message : String(error);
}
