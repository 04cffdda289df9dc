// The pin: the id of the session that this page signed in to, which goes with every request of its own. A cookie alone
// would not do: an app on a sibling host can set one of the session's name, and the page would act in the account of
// that app's author. Without a pin the page takes no session, whichever cookie the browser has.
// (docs/decisions/session-pin.md)
import { SESSION_HEADER } from '@platform/contract';

/** In the storage of this origin, which no app shares: every window of the shell has the same session. */
const KEY = 'platform.session';
const SESSION_ID = /^ses-[0-9a-f-]{36}$/;

/**
 * Of this page, from its start to its end. Not read again from the storage: another window may have signed in to another
 * account, whose name this page does not show.
 */
let pin = stored();

function stored(): string | null {
  const value = localStorage.getItem(KEY);
  return value !== null && SESSION_ID.test(value) ? value : null;
}

export function currentPin(): string | null {
  return pin;
}

/** What a request to core carries. */
export function pinHeaders(): Readonly<Record<string, string>> {
  return pin === null ? {} : { [SESSION_HEADER]: pin };
}

/** After a sign-in. */
export function keepPin(sessionId: string): void {
  pin = sessionId;
  localStorage.setItem(KEY, sessionId);
}

/** When the session is over. One that another window has signed in to since stays. */
export function dropPin(): void {
  if (stored() === pin) localStorage.removeItem(KEY);
  pin = null;
}

/** Calls back when another window signed in to a session, or out (`null`). */
export function followPin(changed: (sessionId: string | null) => void): void {
  window.addEventListener('storage', ({ key }) => {
    // `null` when everything was removed.
    if ((key === KEY || key === null) && stored() !== pin) changed(stored());
  });
}
