// A session as its owner sees it in a list.
import type { SessionView } from '@platform/contract';
import type { Session } from './session-queries.ts';

/** @param currentId of the session that asks */
export function sessionView(session: Session, currentId: string | null): SessionView {
  return {
    id: session.id,
    createdAt: session.created_at.toISOString(),
    lastUsedAt: session.last_used_at.toISOString(),
    expiresAt: session.expires_at.toISOString(),
    userAgent: session.user_agent,
    current: session.id === currentId,
  };
}
