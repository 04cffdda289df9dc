// Who is signed in in this page. Signing out, or a session that core ended, loads the page anew: that drops every
// frame, port and secret in memory at once, with nothing to forget.
import type { AccountView } from '@platform/contract';
import { signal } from '@preact/signals';
import { ApiError } from '../api/api-error.ts';
import { call, onSessionEnd } from '../api/client.ts';
import { dropPush } from '../notifications/push-here.ts';
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

function enter(account: AccountView): void {
  localStorage.setItem(KNOWN, 'yes');
  session.value = { kind: 'signed-in', account };
}

/** Signing out ends the live events too: whichever is noticed first, the person reads what they asked for. */
let leaving = false;

function leave(notice: string): void {
  leaving = true;
  dropPrf();
  sessionStorage.setItem(NOTICE, notice);
  location.replace('/');
}

onSessionEnd(() => {
  if (session.value.kind === 'signed-in' && !leaving) leave('Your session has ended. Sign in again.');
});

export async function checkSession(): Promise<void> {
  try {
    const { account } = await call('auth.session');
    enter(account);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      const notice = sessionStorage.getItem(NOTICE);
      sessionStorage.removeItem(NOTICE);
      session.value = { kind: 'signed-out', notice };
      return;
    }
    const message = error instanceof ApiError ? error.message : 'The platform could not be reached.';
    session.value = { kind: 'unreachable', message };
  }
}

/** @throws PasskeyError or ApiError */
export async function register(name: string): Promise<void> {
  const options = await call('auth.register.options', { body: { name } });
  const { account } = await call('auth.register.verify', { body: await createPasskey(options) });
  enter(account);
}

/** @throws PasskeyError or ApiError */
export async function signIn(): Promise<void> {
  const options = await call('auth.login.options', { body: {} });
  const { account } = await call('auth.login.verify', { body: await askForPasskey(options) });
  enter(account);
}

/** Adds a passkey with the operator's one-time link and signs in. @throws PasskeyError or ApiError */
export async function enrol(token: string): Promise<void> {
  const options = await call('auth.enrol.options', { body: { token } });
  const { account } = await call('auth.enrol.verify', { body: await createPasskey(options) });
  enter(account);
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
    throw error;
  }
  await dropPush();
  leave('You are signed out.');
}
