// What a person decides about a client that wants to connect. The request is kept as oidc-provider left it (oauth/adapter.ts); the
// decision is written into it, and the browser that began it takes it from there.
import {
  appId,
  type ConnectionDecided,
  type ConnectionRequest,
  EVERY_SCOPE,
  limits,
  readScope,
  refuse,
  scopeCovers,
  scopesChosenBeforehand,
  withoutCovered,
} from '@platform/contract';
import { type Confirming, confirmed } from '../accounts/face.ts';
import { connectOrigin } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { hashCredential } from '../credentials/credential.ts';
import { newId } from '../credentials/ids.ts';
import type { Executor } from '../database/schema.ts';
import { PATHS, readResource } from './addresses.ts';
import { noteClientUsed } from './client-queries.ts';
import { announceEnds } from './connections.ts';
import { deleteConnectionsBeyond, insertConnection } from './queries.ts';
import { findRequest, lockUndecided, type RequestRow, storeDecision } from './request-queries.ts';

/** What is in the payload of a request, put there by oauth/provider.ts. */
interface RequestPayload {
  readonly params: Readonly<Record<string, string>>;
  readonly prompt: { readonly details: { readonly client: ReviewedClient } };
}

/** Who asks, as it was when the request began. */
export interface ReviewedClient {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  /** Of its metadata document. */
  readonly documentHost: string | null;
  /** Of the redirect address. */
  readonly origin: string;
}

/** @throws RefusalError `not_found` for one that is unknown, expired or decided */
export async function reviewRequest(
  context: Pick<CoreContext, 'database' | 'clock' | 'config'>,
  id: string,
): Promise<ConnectionRequest> {
  const row = await findRequest(context.database, hashCredential(id), context.clock());
  if (row === undefined || row.account_key !== null) throw refuse('not_found');
  const { client, app, wanted } = read(context, row);
  return {
    client: { name: client.name, host: client.host },
    documentHost: client.documentHost,
    app: app === null ? null : appId.parse(app),
    scopes: wanted,
    requestedAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

/** What was asked for; everything, where nothing was named. */
export function wantedScopes(scope: string | undefined): string[] {
  const named = (scope ?? '').split(' ').filter((one) => readScope(one) !== null);
  return named.length === 0 ? [...EVERY_SCOPE] : withoutCovered(named);
}

function read({ config }: Pick<CoreContext, 'config'>, { payload }: Pick<RequestRow, 'payload'>) {
  const { params, prompt } = payload as unknown as RequestPayload;
  const target = readResource(config, params.resource ?? '');
  // It was checked when the request began; the origin of the platform may have changed since.
  if (target === null) throw refuse('not_found');
  return { params, client: prompt.details.client, app: target.app, wanted: wantedScopes(params.scope) };
}

/**
 * The token uses tools for weeks: a session alone, as of an unlocked computer, is not enough.
 *
 * @throws RefusalError `not_found` as above; `grants_exceed_request` for scopes that the client did not ask for; as {@link confirmed}
 */
export async function allowRequest(
  context: CoreContext,
  {
    id,
    scopes,
    ...confirming
  }: Omit<Confirming, 'operation' | 'subject'> & {
    readonly id: string;
    readonly scopes: readonly string[] | undefined;
  },
): Promise<ConnectionDecided> {
  const { accountKey } = confirming.caller;
  const confirmation = { ...confirming, operation: 'connection.allow', subject: id, orNothingNamed: true } as const;
  return confirmed(context, confirmation, async (trx, passkeyId) => {
    const row = await undecided(context, trx, id);
    const { client, app, wanted, params } = read(context, row);
    const granted = withoutCovered(scopes ?? scopesChosenBeforehand(wanted, app));
    if (granted.length === 0)
      throw refuse('invalid_request', 'Nothing is chosen beforehand for this client. Name scopes.');
    const excess = granted.filter((one) => !wanted.some((other) => scopeCovers(other, one)));
    if (excess.length > 0) throw refuse('grants_exceed_request', `The client did not ask for ${excess.join(' ')}.`);
    const connectionId = newId('con', context);
    const now = context.clock();
    const kept = limits.connectionsPerAccount.value - 1;
    await announceEnds(trx, await deleteConnectionsBeyond(trx, { accountKey, kept }));
    await insertConnection(trx, {
      id: connectionId,
      account_key: accountKey,
      client_id: client.id,
      client_name: client.name,
      client_host: client.host,
      client_origin: client.origin,
      app_id: app,
      scopes: granted,
      passkey_id: passkeyId,
      created_at: now,
    });
    await noteClientUsed(trx, client.id, now);
    await context.lifecycle.securityEvent(trx, confirming.caller, {
      kind: 'client-connected',
      client: client.name,
      host: client.host,
    });
    return decide(context, trx, {
      ...{ id, accountKey, row },
      params: { ...params, scope: granted.join(' ') },
      result: { login: { accountId: accountKey, remember: false }, consent: { grantId: connectionId } },
    });
  });
}

/** @throws RefusalError `not_found` as above */
export function denyRequest(context: CoreContext, id: string, accountKey: string): Promise<ConnectionDecided> {
  return context.database.transaction().execute(async (trx) => {
    const row = await undecided(context, trx, id);
    const { params } = read(context, row);
    const result = { error: 'access_denied', error_description: 'The person did not allow it.' };
    return decide(context, trx, { id, accountKey, row, params, result });
  });
}

async function undecided({ clock }: Pick<CoreContext, 'clock'>, trx: Executor, id: string): Promise<RequestRow> {
  const row = await lockUndecided(trx, hashCredential(id), clock());
  if (row === undefined) throw refuse('not_found');
  return row;
}

/**
 * The browser that began has a cookie, and the one in which it was decided gets this: only one that has both goes on. So nobody can
 * begin a request, have another person allow it, and take what was allowed.
 */
async function decide(
  { config, random }: Pick<CoreContext, 'config' | 'random'>,
  trx: Executor,
  {
    id,
    accountKey,
    row,
    params,
    result,
  }: {
    readonly id: string;
    readonly accountKey: string;
    readonly row: RequestRow;
    readonly params: RequestPayload['params'];
    readonly result: object;
  },
): Promise<ConnectionDecided> {
  const continuation = random(32).toString('base64url');
  const payload = { ...row.payload, params, result };
  const idHash = hashCredential(id);
  await storeDecision(trx, { idHash, accountKey, payload, continuationHash: hashCredential(continuation) });
  return { continueAt: `${connectOrigin(config)}${PATHS.authorize}/${id}?decided=${continuation}` };
}
