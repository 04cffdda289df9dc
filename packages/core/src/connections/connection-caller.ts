// A client outside the platform, by access token (`pct_…`). It uses tools of the account within its scopes, and nothing else.
import { type ConnectingClient, isLoopbackHost } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { CallerScheme } from '../http/callers/scheme.ts';
import { pausedRefusal } from '../http/paused-refusal.ts';
import { resourceOf } from './addresses.ts';
import { type FoundConnection, findByAccessToken, findById } from './queries.ts';

/** A client outside the platform, within what its person allowed. */
export interface ConnectionCaller {
  readonly kind: 'connection';
  readonly connectionId: string;
  readonly accountKey: string;
  readonly accountName: string;
  readonly client: ConnectingClient;
  /** The one app whose tools it may use; `null` for all. */
  readonly app: string | null;
  /** The resource that the token is for. */
  readonly resource: string;
  /** Of the token, `tools:call:<pattern>` and `tools:propose:<pattern>`. */
  readonly scopes: readonly string[];
  /** Of its pages. */
  readonly origin: string;
  readonly paused: boolean;
  readonly expiresAt: Date;
}

declare module '../http/caller.ts' {
  interface CallerKinds {
    connection: ConnectionCaller;
  }
}

export function connectionCaller(context: CoreContext): CallerScheme<'connection'> {
  return {
    kind: 'connection',
    presented: {
      bearer: 'connection',
      find: (tokenHash) => findConnectionCaller(context, tokenHash),
      expired: 'The access token has expired. Get another one with the refresh token.',
    },
    subject: ({ connectionId }) => connectionId,
    from: { allows: (caller, origin) => isOriginOf(caller, origin) },
    refusal: (caller, spec) => (caller.paused && spec.whilePaused !== true ? pausedRefusal() : null),
    changes: [
      {
        signal: 'connection-ended',
        about: 'accountKey',
        matches: (caller, ended) => ended.connectionId === caller.connectionId,
        ends: true,
      },
      {
        signal: 'session-ended',
        about: 'accountKey',
        matches: (_caller, ended) => ended.sessionId === null,
        ends: true,
      },
      { signal: 'pause-changed', about: 'accountKey', ends: true },
    ],
  };
}

/** Whether it may connect to this: a token for all apps also serves for one, and not the other way round. */
export function serves(caller: Pick<ConnectionCaller, 'app'>, app: string | null): boolean {
  return caller.app === null || caller.app === app;
}

/**
 * Programs send no Origin. A page uses the token from the origin to which it was given; on a computer any port of the same host, as
 * for the redirect.
 */
function isOriginOf({ origin }: Pick<ConnectionCaller, 'origin'>, sent: string | undefined): boolean {
  if (sent === undefined || sent === origin) return true;
  const [own, other] = [URL.parse(origin), URL.parse(sent)];
  if (own === null || other === null || other.origin !== sent) return false;
  return isLoopbackHost(own.hostname) && own.hostname === other.hostname && own.protocol === other.protocol;
}

/** @returns `null` for an unknown or ended token and for one of a suspended account */
async function findConnectionCaller(
  context: Pick<CoreContext, 'pool' | 'clock' | 'config'>,
  tokenHash: Buffer,
): Promise<ConnectionCaller | null> {
  const row = await findByAccessToken(context.pool, tokenHash, context.clock());
  return row === undefined ? null : callerOf(context, row);
}

/** By the id of the connection, with all that its person allowed. @returns `null` for one that has ended, and as above */
export async function findConnectionById(
  context: Pick<CoreContext, 'pool' | 'clock' | 'config'>,
  id: string,
): Promise<ConnectionCaller | null> {
  const row = await findById(context.pool, id, context.clock());
  return row === undefined ? null : callerOf(context, row);
}

function callerOf({ config }: Pick<CoreContext, 'config'>, row: FoundConnection): ConnectionCaller {
  return {
    kind: 'connection',
    connectionId: row.id,
    accountKey: row.account_key,
    accountName: row.account_name,
    client: { name: row.client_name, host: row.client_host },
    app: row.app_id,
    resource: resourceOf(config, { app: row.app_id }),
    scopes: row.scope.split(' '),
    origin: row.client_origin,
    paused: row.paused,
    expiresAt: row.expires_at,
  };
}
