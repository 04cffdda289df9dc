// Runs programs with all rights over the network of one workload, as an ordinary user: in the user namespace that this
// network belongs to. The workload itself lives in a namespace further in, and has no right in this one.
import type { Launcher } from './egress.ts';

/** The command line that runs `command` there. Files, processes and user stay those of the Runtime. */
export function insideOf(nsenter: string, { pid }: Pick<Launcher, 'pid'>, command: readonly string[]): string[] {
  const at = (kind: string) => `/proc/${pid}/ns/${kind}`;
  return [nsenter, '--preserve-credentials', `--user=${at('user')}`, `--net=${at('net')}`, '--', ...command];
}
