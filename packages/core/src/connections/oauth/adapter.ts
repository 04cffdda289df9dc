// What oidc-provider keeps, in the tables of this domain: requests, codes and tokens by the SHA-256 of their ids, grants as
// connections, clients as they registered or as their documents say. It has no sessions: each request is decided in the shell.
import { limits } from '@platform/contract';
import type { Adapter } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { resourceOf } from '../addresses.ts';
import { endConnection } from '../connections.ts';
import { findConnection } from '../queries.ts';
import { deleteRequest, findRequest, insertRequest } from '../request-queries.ts';
import { deleteToken, deleteUsedBeyond, findToken, insertToken, type TokenKind, useToken } from '../token-queries.ts';
import { type ClientDocuments, isDocumentAddress } from './client-documents.ts';
import { registeredClient } from './register.ts';

type Stored = Record<string, unknown>;

const KINDS: Readonly<Record<string, TokenKind>> = {
  AuthorizationCode: 'code',
  AccessToken: 'access',
  RefreshToken: 'refresh',
};
/** PostgreSQL: a row that this one belongs to is gone. */
const FOREIGN_KEY_VIOLATION = '23503';

/** Keeps and finds nothing. */
const nothing: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

export function adapters(context: CoreContext, documents: ClientDocuments): (model: string) => Adapter {
  return (model) => {
    const kind = KINDS[model];
    if (kind !== undefined) return tokens(context, kind);
    if (model === 'Interaction') return requests(context);
    if (model === 'Grant') return grants(context);
    if (model === 'Client')
      return {
        ...nothing,
        find: (id) => (isDocumentAddress(id) ? documents.find(id) : registeredClient(context, id)),
      };
    return nothing;
  };
}

function tokens(context: CoreContext, kind: TokenKind): Adapter {
  const { database, clock } = context;
  return {
    ...nothing,
    async upsert(id, { jti: _secret, grantId, ...payload }, seconds = 0) {
      const now = clock();
      const expiresAt = new Date(now.getTime() + seconds * 1_000);
      const connectionId = String(grantId);
      try {
        await insertToken(database, { tokenHash: hashCredential(id), connectionId, kind, payload, now, expiresAt });
      } catch (error) {
        // It ended while the token was made: of two uses of one refresh token the second ends what the first is about to get.
        if (hasCode(error, FOREIGN_KEY_VIOLATION)) throw new errors.InvalidGrant('the connection has ended');
        throw error;
      }
      if (kind === 'refresh') await deleteUsedBeyond(database, connectionId, limits.connectionUsedTokens.value);
    },
    async find(id) {
      const found = await findToken(database, { kind, tokenHash: hashCredential(id), now: clock() });
      if (found === undefined) return undefined;
      const { payload, connection_id: grantId, used_at: usedAt } = found;
      return { ...payload, jti: id, grantId, ...(usedAt === null ? {} : { consumed: seconds(usedAt) }) };
    },
    async consume(id) {
      const used = await useToken(database, { kind, tokenHash: hashCredential(id), now: clock() });
      if (used?.isFirst === true) return;
      if (used !== undefined) await endConnection(context, used.connectionId);
      throw new errors.InvalidGrant('already used');
    },
    destroy: (id) => deleteToken(database, kind, hashCredential(id)),
    // Tokens end with their connection, and only with it.
    revokeByGrantId: async (grantId) => void (await endConnection(context, grantId)),
  };
}

/** A request is undecided until the shell writes the decision into it. */
function requests({ database, clock }: CoreContext): Adapter {
  return {
    ...nothing,
    async upsert(id, { jti: _secret, returnTo: _holdsIt, ...payload }, seconds = 0) {
      const now = clock();
      const expiresAt = new Date(now.getTime() + seconds * 1_000);
      await database
        .transaction()
        .execute((trx) =>
          insertRequest(trx, { idHash: hashCredential(id), payload, now, expiresAt }, limits.connectionRequests.value),
        );
    },
    async find(id) {
      const found = await findRequest(database, hashCredential(id), clock());
      return found && { ...found.payload, jti: id };
    },
    destroy: (id) => deleteRequest(database, hashCredential(id)),
  };
}

function grants(context: CoreContext): Adapter {
  const { database, config, clock } = context;
  return {
    ...nothing,
    async find(id) {
      const row = await findConnection(database, id);
      if (row === undefined) return undefined;
      const resource = resourceOf(config, { app: row.app_id });
      return {
        kind: 'Grant',
        jti: row.id,
        accountId: row.account_key,
        clientId: row.client_id,
        resources: { [resource]: row.scopes.join(' ') },
        iat: seconds(row.created_at),
        exp: seconds(clock()) + limits.connectionDays.value * 86_400,
      } satisfies Stored;
    },
    destroy: async (id) => void (await endConnection(context, id)),
  };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
