// Who is signed in in this page. Signing out, or a session that core ended, loads the page anew: that drops every
// frame, port and secret in memory at once, with nothing to forget.
import type { AccountView, SessionAnswer } from '@platform/contract';
import { signal } from '@preact/signals';
import { ApiError } from '../api/api-error.ts';
import { call, onAccountClosing, onSessionEnd } from '../api/client.ts';
import { currentPin, dropPin, followPin, keepPin } from '../api/pin.ts';
import { END_NOTICES, sessionEndOf } from '../api/session-end.ts';
import { confirmWithPasskey } from './confirm.ts';
import { dropDrafts, dropSecretDrafts } from './drafts.ts';
import { askForPasskey, createPasskey } from './passkey.ts';
import { dropPrf } from './prf.ts';

export type SessionState =
  | { readonly kind: 'checking' }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'signed-out'; readonly notice: string | null }
  | { readonly kind: 'signed-in'; readonly account: AccountView };

export const session = signal<SessionState>({ kind: 'checking' });

const NOTICE = 'platform.notice';
const KNOWN = 'platform.known';

/** Whether an account signed in with this browser before; only decides which form the first screen shows. */
export function hasSignedInBefore(): boolean {
  return localStorage.getItem(KNOWN) !== null;
}

function begin({ account, session: { id } }: SessionAnswer): void {
  keepPin(id);
  enter(account);
}

function enter(account: AccountView): void {
  localStorage.setItem(KNOWN, 'yes');
  sessionStorage.removeItem(NOTICE);
  session.value = { kind: 'signed-in', account };
}

const forgetters = new Set<() => void>();
const endings = new Set<() => Promise<void>>();

/** Calls `forget` whenever the session is over: what the browser keeps of the account goes with it. */
export function forgetWithSession(forget: () => void): void {
  forgetters.add(forget);
}

/** Waits for `end` when the person signs out: what would go on without a page. It must neither reject nor take long. */
export function endWithSession(end: () => Promise<void>): void {
  endings.add(end);
}

function forgetAccount(): void {
  for (const forget of forgetters) forget();
}

/** Signing out ends the live events too: whichever is noticed first, the person reads what they asked for. */
let leaving = false;

function leave(notice: string): void {
  leaving = true;
  const lost = dropSecretDrafts() ? ' A secret that you had typed was not saved.' : '';
  dropPrf();
  dropPin();
  forgetAccount();
  sessionStorage.setItem(NOTICE, `${notice}${lost}`);
  location.replace('/');
}

/** Another window decided it: this page is not asked. */
function reload(): void {
  dropSecretDrafts();
  location.reload();
}

onSessionEnd((end) => {
  if (session.value.kind === 'signed-in' && !leaving) leave(END_NOTICES[end]);
});

onAccountClosing(() => {
  // Another window asked for the deletion. Loading anew learns its date.
  if (session.value.kind === 'signed-in' && session.value.account.deletesAt === undefined) reload();
});

/** Windows of one browser have one session: what another one does holds here too. */
followPin((signedInTo) => {
  if (leaving) return;
  if (signedInTo !== null) reload();
  else if (session.value.kind === 'signed-in') leave('You signed out in another window.');
});

/** Whether the session that this page signed in to still lasts. Any other that the browser has is not asked for. */
export async function checkSession(): Promise<void> {
  if (currentPin() === null) {
    meetSignedOut(takeNotice());
    return;
  }
  try {
    enter((await call('auth.session')).account);
  } catch (error) {
    const end = error instanceof ApiError ? sessionEndOf(error) : null;
    if (end !== null) {
      dropPin();
      meetSignedOut(takeNotice() ?? END_NOTICES[end]);
      return;
    }
    const message = error instanceof ApiError ? error.message : 'The platform could not be reached.';
    session.value = { kind: 'unreachable', message };
  }
}

function meetSignedOut(notice: string | null): void {
  // The session may have ended while no page was there to forget what it kept of apps.
  forgetAccount();
  session.value = { kind: 'signed-out', notice };
}

function takeNotice(): string | null {
  const notice = sessionStorage.getItem(NOTICE);
  sessionStorage.removeItem(NOTICE);
  return notice;
}

/**
 * Has the account deleted after the grace, with the passkey once more.
 * @param name of the account, as typed
 * @throws PasskeyError or ApiError
 */
export async function deleteAccount(name: string): Promise<void> {
  const confirmation = await confirmWithPasskey('account.delete');
  const { deletesAt } = await call('account.deletion.request', { body: { name, confirmation } });
  const { value } = session;
  if (value.kind === 'signed-in') session.value = { ...value, account: { ...value.account, deletesAt } };
}

/** @throws ApiError */
export async function keepAccount(): Promise<void> {
  await call('account.deletion.cancel');
  location.reload();
}

/** @param invitation the token of an invitation. @throws PasskeyError or ApiError */
export async function register(name: string, invitation: string | null): Promise<void> {
  const body = invitation === null ? { name } : { name, invitation };
  const options = await call('auth.register.options', { body });
  begin(await call('auth.register.verify', { body: await createPasskey(options) }));
  registeredAt = Date.now();
}

let registeredAt = Number.NEGATIVE_INFINITY;

/** Whether the account was registered here a moment ago: core lets it add a second passkey without the first, for five minutes. */
export function registeredInThisPage(): boolean {
  return Date.now() - registeredAt < 4 * 60_000;
}

/** @throws PasskeyError or ApiError */
export async function signIn(): Promise<void> {
  const options = await call('auth.login.options', { body: {} });
  begin(await call('auth.login.verify', { body: await askForPasskey(options) }));
}

/** Adds a passkey with the operator's one-time link and signs in. @throws PasskeyError or ApiError */
export async function enrol(token: string): Promise<void> {
  const options = await call('auth.enrol.options', { body: { token } });
  begin(await call('auth.enrol.verify', { body: await createPasskey(options) }));
}

/**
 * Ends the session, and web push in this browser with it. The secret in memory goes first, whatever core answers.
 * @throws ApiError when core did not confirm: the session is then still open, and the person must be informed
 */
export async function signOut(): Promise<void> {
  dropPrf();
  leaving = true;
  try {
    await call('auth.logout', { body: {} });
  } catch (error) {
    leaving = false;
    const end = error instanceof ApiError ? sessionEndOf(error) : null;
    if (end === null) throw error;
    leave(END_NOTICES[end]);
    return;
  }
  await Promise.all([...endings].map((end) => end()));
  dropDrafts();
  leave('You are signed out.');
}
