// Whether the person has just pressed something in the frame in front. Nothing that a frame says counts: the browser tells this page
// of presses in its frames as of its own (`navigator.userActivation`), and the shell knows its own.

/** How long browsers take a press as the reason of what follows; none is longer than this. */
const PRESS_MS = 5_000;

export interface FramePresses {
  /** A press on the shell's own page. */
  pressed(): void;
  /** Another frame came to the front: presses of before were for something else. */
  changed(): void;
  /** Takes a press as the reason of one thing. @returns whether there was one */
  take(): boolean;
}

/** @param active whether the browser knows of a press that is not too long ago, in this page or its frames */
export function createFramePresses(now: () => number, active: () => boolean): FramePresses {
  let otherwise = now();
  const explain = () => {
    otherwise = now();
  };
  return {
    pressed: explain,
    changed: explain,
    take() {
      if (!active() || now() - otherwise < PRESS_MS) return false;
      explain();
      return true;
    },
  };
}
