// One-time links of the operator, `#enrol=<token>` and `#invite=<token>`: taken out of the address at once, so that they are
// neither reloaded, bookmarked nor shown.
import { signal } from '@preact/signals';

/** The token of the link this page was opened with, that adds a passkey. */
export const enrolmentToken = signal<string | null>(null);
/** The same of an invitation to register. */
export const invitationToken = signal<string | null>(null);

const LINKS = [
  ['enrol', enrolmentToken],
  ['invite', invitationToken],
] as const;

/** Whether the page was opened with such a link, signed in or not. */
export function hasOneTimeLink(): boolean {
  return enrolmentToken.value !== null || invitationToken.value !== null;
}

/**
 * Takes the token of the address this page was opened with. A link opened in a page that is already there loads it
 * anew, so that nothing of the account signed in before is left in it.
 */
export function followOneTimeLinks(): void {
  const tokens = () => new URLSearchParams(location.hash.slice(1));
  window.addEventListener('hashchange', () => {
    if (LINKS.some(([name]) => tokens().has(name))) location.reload();
  });
  for (const [name, token] of LINKS) {
    const value = tokens().get(name);
    if (value === null) continue;
    history.replaceState(null, '', '/');
    token.value = value;
    return;
  }
}
