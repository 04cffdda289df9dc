// Whether the stream of live events is open; the bar says so when it is not.
import { effect, signal, untracked } from '@preact/signals';

export const live = signal(true);

/** Calls `then` whenever the platform answers again after it did not. @returns what ends it */
export function onceLiveAgain(then: () => void): () => void {
  let before = live.peek();
  return effect(() => {
    const isBack = live.value && !before;
    before = live.value;
    if (isBack) untracked(then);
  });
}
