// How much text the search for secret material may look at: a fixed multiple of the body, so that the time it takes is
// linear in the body's length whatever the body is made of.

/** Four wrappings of an honest body, each read alone and beside its neighbours, come to half of this. */
const TIMES = 16;
/** Short bodies may hold a name that expands. */
const AT_LEAST = 4_096;

/** The body makes more of itself than any honest one. */
export class TooMuchToScan extends Error {
  override readonly name = 'TooMuchToScan';
}

export class ScanBudget {
  #left: number;

  /** @param length of the body, in UTF-16 units */
  constructor(length: number) {
    this.#left = TIMES * length + AT_LEAST;
  }

  /** UTF-16 units that may still be looked at. */
  get left(): number {
    return this.#left;
  }

  /** @throws TooMuchToScan when no more is left */
  spend(length: number): void {
    this.#left -= length;
    if (this.#left < 0) throw new TooMuchToScan('the body holds too much to be searched');
  }
}
