// A person at the shell, by session cookie. Apps on sibling hosts can evict the cookie, set their own and set several
// (docs/decisions/session-pin.md), so a request may name the session that counts.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { refuse, SESSION_HEADER, sessionId } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { equalSecrets, hashCredential } from '../../credentials/credential.ts';
import type { CallerScheme, LookUp } from '../../http/callers/scheme.ts';
import { deletionOf } from '../deletion/deletion-grace.ts';
import { presentedTokens } from './session-cookie.ts';
import { findSessionRow, findSessionTokenHash } from './session-queries.ts';

/** A person at the shell, by session cookie. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly accountKey: string;
  readonly accountName: string;
  readonly accountCreatedAt: Date;
  /** When its account is deleted; `null` unless its owner asked for that. */
  readonly deletesAt: Date | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

declare module '../../http/caller.ts' {
  interface CallerKinds {
    session: SessionCaller;
  }
}

const SESSION_FIELD = SESSION_HEADER.toLowerCase();

export function sessionCaller(context: CoreContext): CallerScheme<'session'> {
  return {
    kind: 'session',
    presented: { read: (request, look) => readSession(context, request, look) },
    // Not the session: an account may have a hundred.
    subject: ({ accountKey }) => accountKey,
    from: 'shell',
    refusal({ deletesAt }, spec) {
      if (deletesAt === null || spec.whileClosing === true) return null;
      return refuse('account_closing', `This account is deleted on ${deletesAt.toISOString()}. Nothing of it runs.`);
    },
    settles: true,
    changes: [
      {
        signal: 'session-ended',
        about: 'accountKey',
        matches: (caller, ended) => ended.sessionId === null || ended.sessionId === caller.sessionId,
        ends: true,
      },
      { signal: 'pause-changed', about: 'accountKey', ends: false },
    ],
  };
}

/** @throws RefusalError `unauthenticated`, `session_expired`, `session_replaced` */
async function readSession(
  context: CoreContext,
  request: IncomingMessage,
  look: LookUp,
): Promise<SessionCaller | null> {
  const [first, ...rest] = presentedTokens(request, context.config);
  if (first === undefined) return null;
  const pin = request.headers[SESSION_FIELD];
  if (pin !== undefined) return byPin(context, String(pin), [first, ...rest], look);
  // An app on a sibling host can set a cookie for the parent domain: two of the name are an attack, not a choice.
  if (rest.length > 0)
    throw refuse('unauthenticated', `Several session cookies were sent. Say which one counts with ${SESSION_HEADER}.`);
  return byToken(context, first, look);
}

/** The caller of a request that names its session: of the cookies only that session's counts. */
async function byPin(
  context: CoreContext,
  pin: string,
  tokens: readonly string[],
  look: LookUp,
): Promise<SessionCaller> {
  const [only] = tokens;
  if (tokens.length === 1 && only !== undefined) {
    const caller = await sessionOf(context, only, look);
    if (caller !== null && equalSecrets(caller.sessionId, pin)) return caller;
    // An unknown cookie is what remains of a session that ended, unless the one that was named goes on without it.
    if (caller === null && (await look.counted(() => tokenHashOf(context, pin))) === null)
      throw refuse('unauthenticated', 'The session is unknown or has ended.');
    throw refuse('session_replaced');
  }
  const own = await look.counted(async () => {
    const hash = await tokenHashOf(context, pin);
    if (hash === null) return null;
    return tokens.find((token) => timingSafeEqual(hashCredential(token), hash)) ?? null;
  });
  if (own === null) throw refuse('session_replaced');
  return byToken(context, own, look);
}

async function byToken(context: CoreContext, token: string, look: LookUp): Promise<SessionCaller> {
  const caller = await sessionOf(context, token, look);
  if (caller === null) throw refuse('unauthenticated', 'The session is unknown or has ended.');
  return caller;
}

/** @throws RefusalError `session_expired` */
async function sessionOf(context: CoreContext, token: string, look: LookUp): Promise<SessionCaller | null> {
  const hash = hashCredential(token);
  const caller = await look.caller('session', hash, () => findSession(context, hash));
  if (caller === 'expired') throw refuse('session_expired');
  return caller;
}

/** SHA-256 of the token of a session, also of an expired one; `null` for what names none. */
async function tokenHashOf({ pool }: CoreContext, pin: string): Promise<Buffer | null> {
  return sessionId.safeParse(pin).success ? ((await findSessionTokenHash(pool, pin)) ?? null) : null;
}

/**
 * @param tokenHash SHA-256 of the cookie's value
 * @returns `null` for an unknown or ended session and for one of a suspended account
 */
export async function findSession(
  { pool, clock }: Pick<CoreContext, 'pool' | 'clock'>,
  tokenHash: Buffer,
): Promise<SessionCaller | 'expired' | null> {
  const now = clock();
  const row = await findSessionRow(pool, tokenHash, now);
  if (row === undefined) return null;
  if (row.expires_at <= now) return 'expired';
  return {
    kind: 'session',
    sessionId: row.id,
    accountKey: row.account_key,
    accountName: row.name,
    accountCreatedAt: row.account_created_at,
    deletesAt: deletionOf(row.deletion_requested_at),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
