// What keeps a hostile frame from answering a prompt: focus is taken back when a frame grabs it, and no press counts in
// the first half second after the prompt appeared or the focus came back. Neither `inert` nor hiding a frame
// stops it, and keys may reach it before the focus is back: so nothing is decided by what is typed. The one prompt in which
// people type, to find a contact, is a field as any other (field-guard.ts): who took the focus from the prompt before is gone by then.

/** Time without presses, in milliseconds. */
export const GUARD_MS = 500;

export interface PressGuard {
  /** Starts the waiting time anew. */
  arm(): void;
  isOpen(): boolean;
}

export function createPressGuard(now: () => number): PressGuard {
  let armedAt = now();
  return {
    arm() {
      armedAt = now();
    },
    isOpen: () => now() - armedAt >= GUARD_MS,
  };
}

/** Keeps the focus in the dialog while it is open. @param onTheft a frame took it, and has lost it again @returns a function that lets it go */
export function trapFocus(dialog: HTMLDialogElement, guard: PressGuard, onTheft: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;

  // Another window or tab may have the focus rightly; a frame of this page never, while a prompt is open.
  function takeBack(): void {
    if (!(document.activeElement instanceof HTMLIFrameElement)) return;
    guard.arm();
    onTheft();
    document.activeElement.blur();
    // To the refusal, whatever had the focus before: a key that comes too late then does no harm.
    (dialog.querySelector<HTMLElement>('[data-default]') ?? dialog).focus();
  }

  // In a separate task: during the blur event the browser is still moving the focus to the frame, and an element
  // focused now would only look focused while every key goes to the frame.
  function onBlur(): void {
    guard.arm();
    clearTimeout(timer);
    timer = setTimeout(takeBack, 0);
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
