// Where the focus goes when what had it gives way to other controls: without this it is lost, and a screen reader begins
// the page anew.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

const CONTROLS = ['input:not([type="radio"])', 'select', '.buttons button', 'button'];

/**
 * Focuses the first field of the element, or else its first button, after `stage` changed and took away what had the focus.
 *
 * @returns to be the `ref` of the element, which stays
 */
export function useKeptFocus<E extends HTMLElement>(stage: unknown): RefObject<E | null> {
  const element = useRef<E>(null);
  const former = useRef(stage);
  useLayoutEffect(() => {
    if (former.current === stage) return;
    former.current = stage;
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    for (const selector of CONTROLS) {
      const control = element.current?.querySelector<HTMLElement>(selector);
      if (control === null || control === undefined) continue;
      control.focus();
      return;
    }
  }, [stage]);
  return element;
}

/** For an element that is gone as a whole: the heading of its page. */
export function focusPageHead(): void {
  document.querySelector<HTMLElement>('.page-head h2')?.focus();
}

/** Keys in the fields of a form without a submit button of its own: Enter does what its first button does, Escape leaves. */
export function onFieldKeys({ onEnter, onEscape }: { readonly onEnter: () => void; readonly onEscape: () => void }) {
  return (event: KeyboardEvent) => {
    if (event.key === 'Escape') onEscape();
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) onEnter();
  };
}
