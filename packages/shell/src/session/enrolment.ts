// The operator's one-time link, `#enrol=<token>`: taken out of the address at once, so that it is neither reloaded,
// bookmarked nor shown.
import { signal } from '@preact/signals';

/** The token of the link this page was opened with. */
export const enrolmentToken = signal<string | null>(null);

/**
 * Takes the token of the address this page was opened with. A link opened in a page that is already there loads it
 * anew, so that nothing of the account signed in before is left in it.
 */
export function followEnrolmentLinks(): void {
  window.addEventListener('hashchange', () => {
    if (tokenOf(location.hash) !== null) location.reload();
  });
  const token = tokenOf(location.hash);
  if (token === null) return;
  history.replaceState(null, '', '/');
  enrolmentToken.value = token;
}

function tokenOf(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get('enrol');
}
