// Gives back what a process needed for its start alone: mostly its young generation, which a start fills up to 32 MiB. V8
// does so by itself when an allocation lets it, and a platform that nobody uses allocates nothing for minutes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After the start: the first requests are over then, which wait for nothing. The collection takes about 0.2 s. */
const AFTER_MILLISECONDS = 10_000;

export function releaseStartMemory(): void {
  setTimeout(collectGarbage, AFTER_MILLISECONDS).unref();
}

/** All of it, and gives the pages back. */
export function collectGarbage(): void {
  collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** V8's collector without a flag on every command line: contexts that are made while the flag is set have it. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as NodeJS.GCFunction;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
