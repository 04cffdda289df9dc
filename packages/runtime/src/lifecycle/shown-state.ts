// The visible state of a workload with its reason: stored for status requests, and reported to callers that wait for a
// start.
import { type InstallationStatus, plainLine } from '@platform/contract';
import type { Clock } from '../clock.ts';

/** All of an installation's status but what only its driver knows. */
export type Shown = Omit<InstallationStatus, 'installationId' | 'unenforced'>;

export type State = Shown['state'];

export class ShownState {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #waiting = new Set<() => void>();
  #shown: Shown;

  /** @param former What was seen before the Runtime was restarted. */
  constructor(clock: Clock, onChange: () => void, former: Shown | undefined) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#shown = former ?? { state: 'stopped', since: clock.now().toISOString(), restarts: 0, lastExit: null };
  }

  get now(): Shown {
    return this.#shown;
  }

  set(state: State, reason?: string): void {
    const { restarts, lastExit } = this.#shown;
    const since = this.#clock.now().toISOString();
    this.#shown = { state, since, ...(reason === undefined ? {} : { reason: plainLine(reason) }), restarts, lastExit };
    for (const check of [...this.#waiting]) check();
    this.#onChange();
  }

  /** Shown with the next change of the state. */
  exited(reason: string): void {
    this.#shown = { ...this.#shown, lastExit: { at: this.#clock.now().toISOString(), reason: plainLine(reason) } };
  }

  /** Shown with the next change of the state. */
  countRestarts(restarts: number): void {
    this.#shown = { ...this.#shown, restarts };
  }

  /** Whether a caller waits for the end of a start. */
  isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves when the state is no longer `starting`, or `isEnough` of what is shown, or after some milliseconds. */
  settled(milliseconds: number, isEnough: (shown: Shown) => boolean): Promise<void> {
    const isOver = () => this.#shown.state !== 'starting' || isEnough(this.#shown);
    if (isOver()) return Promise.resolve();
    return new Promise((resolve) => {
      const check = () => {
        if (isOver()) done();
      };
      const done = () => {
        cancel();
        this.#waiting.delete(check);
        resolve();
      };
      const cancel = this.#clock.after(milliseconds, done);
      this.#waiting.add(check);
    });
  }
}
