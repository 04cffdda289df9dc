// Looks at the process tree from outside, for tests that promise that nothing is left of it.
import { readdirSync, readFileSync } from 'node:fs';
import { identify, isAlive } from '../src/drivers/process/process-tree.ts';

export interface SeenProcess {
  readonly pid: number;
  alive(): boolean;
}

/** All processes below `pid`, at any depth. */
export function descendants(pid: number): SeenProcess[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // ended meanwhile
    }
  }
  const found: SeenProcess[] = [];
  for (const candidate of parents.keys()) {
    for (let above = parents.get(candidate); above !== undefined && above > 0; above = parents.get(above)) {
      if (above !== pid) continue;
      const identity = identify(candidate);
      if (identity !== undefined) found.push({ pid: candidate, alive: () => isAlive(identity) });
      break;
    }
  }
  return found;
}
