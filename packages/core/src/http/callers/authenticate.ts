// The one place where a credential becomes a Caller. Fails closed: a doubtful credential is unauthenticated.
import type { IncomingMessage } from 'node:http';
import { refuse } from '@platform/contract';
import { credentialKind, hashCredential } from '../../credentials/credential.ts';
import type { Caller, CallerKinds } from '../caller.ts';
import type { FailedLookups } from './failed-lookups.ts';
import type { IdentityCache } from './identity-cache.ts';
import type { AnyScheme, LookUp, PresentedKind } from './scheme.ts';

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
  schemes: readonly AnyScheme[],
  cache: IdentityCache,
  { clock, failures }: { readonly clock: () => Date; readonly failures: FailedLookups },
): Authenticator {
  const bearers = new Map<string, { readonly kind: PresentedKind; readonly presented: AnyBearer }>();
  const others: AnyInRequest[] = [];
  for (const { kind, presented } of schemes) {
    if ('bearer' in presented) bearers.set(presented.bearer, { kind, presented });
    else others.push(presented);
  }

  async function byBearer(header: string, look: LookUp): Promise<Caller> {
    const match = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(header);
    const presented = match?.[1] ?? '';
    const scheme = bearers.get(credentialKind(presented) ?? '');
    const hash = hashCredential(presented);
    const caller =
      scheme === undefined
        ? await look.counted(async () => null)
        : await look.caller(scheme.kind, hash, () => scheme.presented.find(hash));
    if (caller === 'expired') throw refuse('unauthenticated', scheme?.presented.expired);
    if (caller === null) throw refuse('unauthenticated', 'The credential is unknown or has ended.');
    return caller;
  }

  function lookingFrom(network: string): LookUp {
    return {
      async caller<Kind extends PresentedKind>(
        kind: Kind,
        hash: Buffer,
        find: () => Promise<CallerKinds[Kind] | 'expired' | null>,
      ) {
        let expired = false;
        const caller = await cache.find(hash, async () => {
          const found = await failures.look(network, find);
          expired = found === 'expired';
          return found === 'expired' ? null : found;
        });
        if (expired) return 'expired';
        if (caller === null || caller.kind !== kind) return null;
        return 'expiresAt' in caller && caller.expiresAt <= clock() ? 'expired' : (caller as CallerKinds[Kind]);
      },
      counted: (find) => failures.look(network, find),
    };
  }

  return {
    async authenticate(request, network) {
      const { authorization } = request.headers;
      const look = lookingFrom(network);
      if (authorization !== undefined) return byBearer(authorization, look);
      for (const one of others) {
        const caller = await one.read(request, look);
        if (caller !== null) return caller;
      }
      return { kind: 'anonymous' };
    },
  };
}

type AnyBearer = Extract<AnyScheme['presented'], { readonly bearer: unknown }>;
type AnyInRequest = Exclude<AnyScheme['presented'], AnyBearer>;
