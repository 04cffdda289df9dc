// The ways a session ends without the person's doing, and what they read then.
import type { ApiError } from './api-error.ts';

export type SessionEnd = 'ended' | 'replaced' | 'cookies-deleted';

export const END_NOTICES: Readonly<Record<SessionEnd, string>> = {
  ended: 'Your session has ended. Sign in again.',
  replaced: 'Another page replaced your sign-in. Sign in again.',
  'cookies-deleted':
    'An app or another page filled this browser with cookies. The platform had to delete them, and your sign-in with them. Sign in again.',
};

/** Whether this refusal of core means that the session of this page is over, and how. */
export function sessionEndOf({ code }: Pick<ApiError, 'code'>): SessionEnd | null {
  if (code === 'unauthenticated' || code === 'session_expired') return 'ended';
  if (code === 'session_replaced') return 'replaced';
  // The answer told the browser to delete the cookies of the site.
  return code === 'head_too_large' ? 'cookies-deleted' : null;
}
