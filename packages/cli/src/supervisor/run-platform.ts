// A start of the platform, from reading its programs to its end. Most of a start is reading programs: the parts read theirs
// while the supervisor reads its own and PostgreSQL starts, so this file imports little.
import { LogFile } from '../terminal/log-file.ts';
import { complain } from '../terminal/terminal.ts';
import type { Absence, Part } from './part.ts';
import { PartProgram } from './part-process.ts';

/**
 * Runs the platform that consists of these parts until a signal ends it.
 *
 * @returns the exit code. @throws StartError when it does not start, or a part cannot be restarted
 */
export async function runPlatform(
  parts: readonly Part[],
  { verbose, absence = 'refuse' }: { readonly verbose: boolean; readonly absence?: Absence },
): Promise<number> {
  const log = verbose || !(process.stdout.isTTY || process.stderr.isTTY) ? undefined : new LogFile();
  const programs = new Map<Part, PartProgram>();
  for (const part of parts) if ('program' in part) programs.set(part, new PartProgram(part, log));
  for (const program of programs.values()) program.load();
  try {
    return await (await import('./supervise.ts')).supervise(parts, programs, { verbose, log, absence });
  } finally {
    const unread = log?.close() ?? Buffer.alloc(0);
    if (unread.length > 0) complain(unread.toString().trimEnd());
  }
}
