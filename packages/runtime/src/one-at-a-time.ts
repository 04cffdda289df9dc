// Pieces of work that never overlap.

/** Each piece begins when the one before it has ended, however that went; its outcome is for whoever asked for it. */
export function oneAtATime(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    // Whoever asked for it is told; the next one is tried all the same.
    last = turn.catch(() => undefined);
    return turn;
  };
}
