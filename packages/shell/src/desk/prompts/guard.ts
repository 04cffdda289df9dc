// What keeps a hostile frame from answering a prompt, or from keeping the person from it: focus is taken back when a frame grabs
// it, and no press counts in the first half second after the prompt appeared or the focus came back. Neither `inert` nor
// hiding a frame stops it, and keys may reach it before the focus is back: so nothing is decided by what is typed. The one prompt
// in which people type, to find a contact, is a field as any other (field-guard.ts): who took the focus from the prompt before
// is gone by then. Who takes it again and again has no document until the prompt is answered.

/** Time without presses, in milliseconds. */
export const GUARD_MS = 500;
/**
 * So long presses that follow one another within {@link GUARD_MS} do not count: they began before the prompt, in an app that had
 * the person press quickly where its answer would be.
 */
export const STREAK_MS = 2_000;
/** Of one prompt. An honest app may take the focus for a field that it draws meanwhile. */
const MOST_THEFTS = 3;

export interface PressGuard {
  /** Starts the waiting time anew. */
  arm(): void;
  /** Whether a press counts, of one who did not press before. */
  isOpen(): boolean;
  /** A press. @returns whether it counts */
  press(): boolean;
}

export function createPressGuard(now: () => number): PressGuard {
  let armedAt = now();
  let opensAt = armedAt + GUARD_MS;
  return {
    arm() {
      armedAt = now();
      opensAt = armedAt + GUARD_MS;
    },
    isOpen: () => now() >= opensAt,
    press() {
      const at = now();
      if (at >= opensAt) return true;
      opensAt = Math.min(at + GUARD_MS, armedAt + STREAK_MS);
      return false;
    },
  };
}

export interface Thefts {
  /** A frame took the focus, and has lost it again. */
  once(): void;
  /** It does so without end: its document goes. */
  tooOften(): void;
}

/** Keeps the focus in the dialog while it is open. @returns a function that lets it go */
export function trapFocus(dialog: HTMLDialogElement, guard: PressGuard, thefts: Thefts): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;
  let stolen = false;

  // Another window or tab may have the focus rightly; a frame of this page never, while a prompt is open.
  function takeBack(): void {
    const { activeElement } = document;
    if (!stolen) return;
    stolen = false;
    guard.arm();
    if (activeElement instanceof HTMLIFrameElement) activeElement.blur();
    // To the refusal, whatever had the focus before: a key that comes too late then does no harm.
    (dialog.querySelector<HTMLElement>('[data-default]') ?? dialog).focus();
  }

  // Back in a separate task: during the blur event the browser is still moving the focus to the frame, and an element
  // focused now would only look focused while every key goes to the frame.
  function onBlur(): void {
    guard.arm();
    clearTimeout(timer);
    timer = setTimeout(takeBack, 0);
    // Seen now: a frame may hand the focus on to this page at once, where nothing has it then.
    const { activeElement } = document;
    // A frame in the dialog is what the person looks at; where one is, nothing is decided.
    if (!(activeElement instanceof HTMLIFrameElement) || dialog.contains(activeElement)) return;
    stolen = true;
    count += 1;
    thefts.once();
    // Within the event, so that it takes no further one.
    if (count > MOST_THEFTS) thefts.tooOften();
  }

  function onReturn(): void {
    guard.arm();
  }

  window.addEventListener('blur', onBlur);
  window.addEventListener('focus', onReturn);
  return () => {
    clearTimeout(timer);
    window.removeEventListener('blur', onBlur);
    window.removeEventListener('focus', onReturn);
  };
}
