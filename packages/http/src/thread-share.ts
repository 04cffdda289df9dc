// Work that others cause and that can be done in steps gets a part of its thread, all of it together: one step at a time, and
// after each one everybody else has the thread for several times as long. So whoever causes much of it waits behind himself and
// his like, and on a busy machine he gets less.

export interface ThreadShare {
  /** Steps wait for their turn. */
  readonly isBusy: boolean;
  /**
   * Takes a step when it is its turn. What it sets off, such as reading from a socket, counts as well, with everything else that
   * happens in this turn of the event loop and in the next.
   *
   * @param first it goes before those that are not
   */
  take(step: () => void, first?: boolean): void;
}

/** The shortest that a timer waits; what is owed below it is waited for later. */
const SHORTEST_REST = 1;

/** @param part of the thread, below 1 */
export function openThreadShare(part: number): ThreadShare {
  const waiting: Record<'first' | 'others', (() => void)[]> = { first: [], others: [] };
  let isTaken = false;
  let owed = 0;

  function next(): void {
    const step = waiting.first.shift() ?? waiting.others.shift();
    isTaken = step !== undefined;
    if (step === undefined) return;
    const begun = performance.now();
    const rest = (): void => {
      owed += (performance.now() - begun) * (1 / part - 1);
      if (owed < SHORTEST_REST) {
        next();
        return;
      }
      setTimeout(next, owed);
      owed = 0;
    };
    // A socket that is resumed within a turn is read in the next.
    setImmediate(() => setImmediate(rest));
    step();
  }
  return {
    get isBusy() {
      return isTaken;
    },
    take(step, first = false) {
      waiting[first ? 'first' : 'others'].push(step);
      if (!isTaken) next();
    },
  };
}
