// Keeps other work on the machine out of a figure: says how much of a core others used during a round, and picks the
// rounds in which that was least. Linux only, like every bench here.
import { readFile } from 'node:fs/promises';

/** Rounds in which others used more than this of one core are repeated. */
const QUIET = 0.25;
const TICKS_PER_SECOND = 100;

export interface QuietOptions {
  readonly rounds: number;
  /** Processes that belong to the measurement, besides this one and the children it has waited for. */
  readonly pids: readonly number[];
}

/**
 * Runs `round` until `rounds` undisturbed results are there, three times as often at most, and returns the least
 * disturbed ones. Says so on standard error when disturbed ones had to be used.
 */
export async function quietRounds<Result>(
  { rounds, pids }: QuietOptions,
  round: () => Promise<Result>,
): Promise<Result[]> {
  const results: { readonly result: Result; readonly others: number }[] = [];
  const quiet = (): number => results.filter(({ others }) => others <= QUIET).length;
  while (quiet() < rounds && results.length < rounds * 3) {
    const before = await usage(pids);
    const started = process.hrtime.bigint();
    const result = await round();
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const after = await usage(pids);
    const others = (after.all - before.all - (after.own - before.own)) / TICKS_PER_SECOND / seconds;
    results.push({ result, others });
  }
  if (quiet() < rounds) {
    process.stderr.write('  other work on this machine disturbed the measurement; absolute figures are too low\n');
  }
  results.sort((left, right) => left.others - right.others);
  return results.slice(0, rounds).map(({ result }) => result);
}

/** Clock ticks used so far by everything on the machine, and by the measurement. */
async function usage(pids: readonly number[]): Promise<{ all: number; own: number }> {
  const [total = ''] = (await readFile('/proc/stat', 'utf8')).split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = total.trim().split(/\s+/).slice(1).map(Number);
  let own = 0;
  for (const pid of [process.pid, ...pids]) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // After the name in parentheses: state is field 3, so utime, stime, cutime and cstime (14 to 17) are 11 to 14 here.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    own += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  }
  return { all: user + nice + system + steal, own };
}
