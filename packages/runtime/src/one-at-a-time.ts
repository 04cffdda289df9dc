// Pieces of work that never overlap.

/** Serialises work: each call starts when the former has settled, and its outcome goes to its own caller. */
export function oneAtATime(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    // The caller gets the error; it does not stop the next call.
    last = turn.catch(() => undefined);
    return turn;
  };
}
