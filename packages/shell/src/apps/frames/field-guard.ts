// Keeps what the person types into a field of the shell from the app in front. A frame may take the focus whenever it
// likes, even an inert or hidden one, and browsers have no way yet to forbid it. So a frame that takes it while a field of
// this page has it loses its document in the same moment, and from then on as soon as a field of this page gets the focus:
// a key that comes later finds nobody.
import { signal } from '@preact/signals';
import { frontApp, withhold } from './open-apps.ts';

/** Whether a field of this page has the focus. Meanwhile no press reaches the frame: it would move the focus there. */
export const typing = signal(false);

const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';
/** Besides the events: they do not come while the browser is not the active window. */
const LOOK_MS = 50;

let field: HTMLElement | null = null;
let giveBack: (() => void) | null = null;
/** Apps that took the focus from a field once, since this page was loaded. */
const thieves = new Set<string>();
let looking: ReturnType<typeof setInterval> | undefined;

/** The app in front took the focus from this page: it has no document from the first moment of the next field on. */
export function noteTheft(): void {
  if (frontApp.value !== null) thieves.add(frontApp.value);
}

/** The person leaves the field by a key or a press; where the focus goes then is the shell's own doing. */
export function endTyping(): void {
  clearInterval(looking);
  field = null;
  typing.value = false;
  const give = giveBack;
  giveBack = null;
  give?.();
}

function enter({ target }: FocusEvent): void {
  if (!(target instanceof HTMLElement) || !target.matches(FIELD)) {
    if (field !== null) endTyping();
    return;
  }
  field = target;
  typing.value = true;
  if (frontApp.value !== null && thieves.has(frontApp.value)) giveBack ??= withhold();
  clearInterval(looking);
  looking = setInterval(look, LOOK_MS);
}

/** Inside the event that reports it, so that no key comes in between; then again, when the focus has arrived. */
function lookNowAndSoon(): void {
  endTheft();
  setTimeout(look, 0);
}

function look(): void {
  if (field === null || endTheft()) return;
  // Where the frame went with the focus, nothing has it now.
  if (giveBack !== null && document.activeElement === document.body) field.focus({ preventScroll: true });
  if (document.activeElement !== field) endTyping();
}

/** Whether a frame has, or just had, the focus that belongs to a field of this page. The field has not been left then. */
export function isStolen(): boolean {
  if (field === null) return false;
  return frameHasFocus() || (giveBack !== null && document.activeElement === document.body);
}

function frameHasFocus(): boolean {
  return document.activeElement instanceof HTMLIFrameElement;
}

/** @returns whether a frame had the focus of the field */
function endTheft(): boolean {
  if (field === null || !frameHasFocus()) return false;
  noteTheft();
  giveBack ??= withhold();
  setTimeout(look, 0);
  return true;
}

export function guardFields(): () => void {
  document.addEventListener('focusin', enter);
  document.addEventListener('focusout', lookNowAndSoon);
  window.addEventListener('blur', lookNowAndSoon);
  return () => {
    endTyping();
    document.removeEventListener('focusin', enter);
    document.removeEventListener('focusout', lookNowAndSoon);
    window.removeEventListener('blur', lookNowAndSoon);
  };
}
