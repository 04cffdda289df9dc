// The one place where a credential becomes a Caller. Fails closed: a doubtful credential is unauthenticated.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { refuse, SESSION_HEADER, sessionId } from '@platform/contract';
import { credentialKind, equalSecrets, hashCredential } from '../credentials/credential.ts';
import type { Caller, SessionCaller } from './caller.ts';
import type { FailedLookups } from './failed-lookups.ts';
import type { IdentityCache } from './identity-cache.ts';

const SESSION_FIELD = SESSION_HEADER.toLowerCase();

export interface CredentialLookups {
  findSession(tokenHash: Buffer): Promise<SessionCaller | 'expired' | null>;
  /** SHA-256 of the token of this session, also of an expired one. */
  findSessionToken(sessionId: string): Promise<Buffer | null>;
  findFrontendCaller(tokenHash: Buffer): Promise<Caller | null>;
  findInstallationCaller(tokenHash: Buffer): Promise<Caller | null>;
  findNodeCaller(tokenHash: Buffer): Promise<Caller | null>;
  findIngressCaller(tokenHash: Buffer): Promise<Caller | null>;
  findAuthorCaller(tokenHash: Buffer): Promise<Caller | null>;
}

export interface Authenticator {
  /**
   * The caller of a request that presents a credential; `anonymous` when it presents none.
   *
   * @param network of the client
   * @throws RefusalError `unauthenticated` or `session_expired` for a credential that is unknown, ended or ambiguous;
   *   `session_replaced` when `Platform-Session` names a session and the cookies are of others; `rate_limited` where too
   *   many unknown ones came from the network
   */
  authenticate(request: IncomingMessage, network: string): Promise<Caller>;
}

export function authenticator(
  lookups: CredentialLookups,
  cache: IdentityCache,
  options: { readonly sessionCookie: string; readonly clock: () => Date; readonly failures: FailedLookups },
): Authenticator {
  const { failures } = options;

  async function byBearer(header: string, network: string): Promise<Caller> {
    const match = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(header);
    const presented = match?.[1] ?? '';
    const kind = credentialKind(presented);
    const hash = hashCredential(presented);
    const find = (): Promise<Caller | null> => {
      if (kind === 'frontend') return lookups.findFrontendCaller(hash);
      if (kind === 'core') return lookups.findInstallationCaller(hash);
      if (kind === 'node') return lookups.findNodeCaller(hash);
      if (kind === 'ingress') return lookups.findIngressCaller(hash);
      if (kind === 'author') return lookups.findAuthorCaller(hash);
      return Promise.resolve(null);
    };
    const caller = await cache.find(hash, () => failures.look(network, find));
    if (caller === null) throw refuse('unauthenticated', 'The credential is unknown or has ended.');
    if ((caller.kind === 'node' || caller.kind === 'ingress') && caller.expiresAt <= options.clock())
      throw refuse('unauthenticated', `The credential of this ${caller.kind} has expired. It renews it with its key.`);
    if (caller.kind === 'author' && caller.expiresAt <= options.clock())
      throw refuse('unauthenticated', 'The token of this command line has expired. Run `./platform login` again.');
    if ('expiresAt' in caller && caller.expiresAt <= options.clock())
      throw refuse('unauthenticated', 'The capability has expired. Open the app again.');
    return caller;
  }

  /** @throws RefusalError `session_expired` */
  async function sessionOf(value: string, network: string): Promise<SessionCaller | null> {
    const hash = hashCredential(value);
    let expired = false;
    const caller = await cache.find(hash, async () => {
      const found = await failures.look(network, () => lookups.findSession(hash));
      expired = found === 'expired';
      return found === 'expired' ? null : found;
    });
    if (expired) throw refuse('session_expired');
    if (caller === null || caller.kind !== 'session') return null;
    if (caller.expiresAt <= options.clock()) throw refuse('session_expired');
    return caller;
  }

  async function byCookie(value: string, network: string): Promise<SessionCaller> {
    const caller = await sessionOf(value, network);
    if (caller === null) throw refuse('unauthenticated', 'The session is unknown or has ended.');
    return caller;
  }

  async function tokenOf(pin: string): Promise<Buffer | null> {
    return sessionId.safeParse(pin).success ? lookups.findSessionToken(pin) : null;
  }

  /**
   * The caller of a request that names its session: of the cookies only that session's counts. Apps on sibling hosts can
   * evict the cookie, set their own and set several (docs/decisions/session-pin.md).
   */
  async function byPinnedCookie(pin: string, values: readonly string[], network: string): Promise<SessionCaller> {
    const [only] = values;
    if (values.length === 1 && only !== undefined) {
      const caller = await sessionOf(only, network);
      if (caller !== null && equalSecrets(caller.sessionId, pin)) return caller;
      // An unknown cookie is what remains of a session that ended, unless the one that was named goes on without it.
      if (caller === null && (await failures.look(network, () => tokenOf(pin))) === null)
        throw refuse('unauthenticated', 'The session is unknown or has ended.');
      throw refuse('session_replaced');
    }
    const own = await failures.look(network, async () => {
      const token = await tokenOf(pin);
      if (token === null) return null;
      return values.filter((value) => timingSafeEqual(hashCredential(value), token))[0] ?? null;
    });
    if (own === null) throw refuse('session_replaced');
    return byCookie(own, network);
  }

  return {
    async authenticate(request, network) {
      const { authorization, cookie } = request.headers;
      if (authorization !== undefined) return byBearer(authorization, network);
      const values = cookie === undefined ? [] : cookieValues(cookie, options.sessionCookie);
      if (values[0] === undefined) return { kind: 'anonymous' };
      const pin = request.headers[SESSION_FIELD];
      if (pin !== undefined) return byPinnedCookie(String(pin), values, network);
      // An app on a sibling host can set a cookie for the parent domain: two of the name are an attack, not a choice.
      if (values.length > 1)
        throw refuse(
          'unauthenticated',
          `Several session cookies were sent. Say which one counts with ${SESSION_HEADER}.`,
        );
      return byCookie(values[0], network);
    },
  };
}

/** Every value sent under one cookie name (RFC 6265, section 4.2). */
export function cookieValues(header: string, name: string): string[] {
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) values.push(pair.slice(equals + 1).trim());
  }
  return values;
}
