// The exit codes of the command line: docs/operators.md lists them.
import { StartError } from '@platform/core/start';
import { UsageError } from './command.ts';

export const EXIT = {
  done: 0,
  /** Refused or failed: the message says why. */
  failed: 1,
  wrongUsage: 2,
  /** Done but for a part that the message names, such as a backend that cannot leave its node. */
  partly: 3,
  /** A wrong or contradictory setting: another try ends the same. `EX_CONFIG` of sysexits.h. */
  wrongSetting: 78,
} as const;

const SETTINGS: ReadonlySet<string> = new Set([
  'wrong_variable',
  'ports_contradict',
  'master_account_differs',
  'server_name_changed',
]);

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.wrongUsage;
  return error instanceof StartError && SETTINGS.has(error.code) ? EXIT.wrongSetting : EXIT.failed;
}
