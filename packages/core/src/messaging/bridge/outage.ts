// While nothing answers at an address, it is tried once in a while: those who call meanwhile are refused at once.
const PAUSE_MILLISECONDS = 1_000;

export class Outage {
  #until = Number.NEGATIVE_INFINITY;
  #isSaid = false;

  get lasts(): boolean {
    return performance.now() < this.#until;
  }

  /** @param say called once until it ends */
  begin(say: () => void): void {
    this.#until = performance.now() + PAUSE_MILLISECONDS;
    if (!this.#isSaid) say();
    this.#isSaid = true;
  }

  end(): void {
    this.#until = Number.NEGATIVE_INFINITY;
    this.#isSaid = false;
  }
}
