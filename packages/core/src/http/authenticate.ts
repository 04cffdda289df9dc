// The one place where a credential becomes a Caller. Fails closed: a doubtful credential is unauthenticated.
import type { IncomingMessage } from 'node:http';
import { refuse } from '@platform/contract';
import { credentialKind, hashCredential } from '../credentials/credential.ts';
import type { Caller, SessionCaller } from './caller.ts';
import type { FailedLookups } from './failed-lookups.ts';
import type { IdentityCache } from './identity-cache.ts';

export interface CredentialLookups {
  findSession(tokenHash: Buffer): Promise<SessionCaller | 'expired' | null>;
  findFrontendCaller(tokenHash: Buffer): Promise<Caller | null>;
  findInstallationCaller(tokenHash: Buffer): Promise<Caller | null>;
  findNodeCaller(tokenHash: Buffer): Promise<Caller | null>;
}

export interface Authenticator {
  /**
   * The caller of a request that presents a credential; `anonymous` when it presents none.
   *
   * @param network of the client
   * @throws RefusalError `unauthenticated` or `session_expired` for a credential that is unknown, ended or ambiguous;
   *   `rate_limited` where too many unknown ones came from the network
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
      return Promise.resolve(null);
    };
    const caller = await cache.find(hash, () => failures.look(network, find));
    if (caller === null) throw refuse('unauthenticated', 'The credential is unknown or has ended.');
    if (caller.kind === 'node' && caller.expiresAt <= options.clock())
      throw refuse('unauthenticated', 'The credential of this node has expired. It renews it with its key.');
    if ('expiresAt' in caller && caller.expiresAt <= options.clock())
      throw refuse('unauthenticated', 'The capability has expired. Open the app again.');
    return caller;
  }

  async function byCookie(value: string, network: string): Promise<Caller> {
    const hash = hashCredential(value);
    let expired = false;
    const caller = await cache.find(hash, async () => {
      const found = await failures.look(network, () => lookups.findSession(hash));
      expired = found === 'expired';
      return found === 'expired' ? null : found;
    });
    if (expired) throw refuse('session_expired');
    if (caller === null || caller.kind !== 'session')
      throw refuse('unauthenticated', 'The session is unknown or has ended.');
    if (caller.expiresAt <= options.clock()) throw refuse('session_expired');
    return caller;
  }

  return {
    async authenticate(request, network) {
      const { authorization, cookie } = request.headers;
      if (authorization !== undefined) return byBearer(authorization, network);
      const values = cookie === undefined ? [] : cookieValues(cookie, options.sessionCookie);
      // An app on a sibling host can set a cookie for the parent domain: two of the name are an attack, not a choice.
      if (values.length > 1)
        throw refuse(
          'unauthenticated',
          'Two session cookies were sent. Clear the cookies of this site and sign in again.',
        );
      return values[0] === undefined ? { kind: 'anonymous' } : byCookie(values[0], network);
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
