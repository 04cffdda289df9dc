// Command lines of authors over HTTP.
import { type AuthorTokenView, type DomainRoute, limits, refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { HandlersOf } from '../../http/handlers.ts';
import { listPage } from '../../http/list-page.ts';
import { ceremonyRefused, type Refused } from '../webauthn/ceremony-fault.ts';
import { type AuthorToken, tokensOf } from './author-queries.ts';
import { allowRequest, beginRequest, collectToken, denyRequest, endToken, reviewRequest } from './author-tokens.ts';

export type AuthorRoute = DomainRoute<'authorTokens'>;

export function authorRoutes(context: CoreContext): HandlersOf<AuthorRoute> {
  const { config, database, clock, log } = context;
  return {
    'author.requests.begin': async ({ body: { machine }, request }) => {
      const { expiresAt, ...begun } = await beginRequest(context, { machine, address: request.ip });
      const page = `${config.origin}/#/settings/command-line`;
      const pollSeconds = limits.authorPollSeconds.value;
      return { status: 201, body: { ...begun, page, expiresAt: expiresAt.toISOString(), pollSeconds } };
    },
    'author.requests.collect': async ({ body, request }) => {
      const collected = await collectToken(context, body.requestToken);
      if (collected === null) return { status: 204 };
      log.info({ requestId: request.id, account: collected.account }, 'a command line signed in');
      return { status: 200, body: { ...collected, expiresAt: collected.expiresAt.toISOString() } };
    },
    'author.requests.review': async ({ body, request }) => ({
      status: 200,
      body: await reviewRequest(context, body.code, request.ip),
    }),
    'author.requests.decide': async ({ caller, body: { code, allow, confirmation }, request }) => {
      if (allow && confirmation !== undefined) {
        const refused: Refused = (fault) => ceremonyRefused(log, request, 'allow-command-line', fault);
        await allowRequest(context, { caller, code, confirmation, refused });
      } else await denyRequest(context, code, caller.accountKey);
      return { status: 204 };
    },
    'author.tokens.list': async ({ caller: { accountKey }, query }) => {
      const items = (await tokensOf(database, accountKey, clock())).map(authorTokenView);
      const list = { name: `author-tokens:${accountKey}`, items, idOf: ({ id }: AuthorTokenView) => id };
      return { status: 200, body: listPage(context, query, list) };
    },
    'author.tokens.revoke': async ({ caller, params }) => {
      if (!(await endToken(context, caller.accountKey, params.id))) throw refuse('not_found');
      return { status: 204 };
    },
    'author.self': async ({ caller: { accountName, machine, expiresAt } }) => ({
      status: 200,
      body: { account: accountName, machine, expiresAt: expiresAt.toISOString() },
    }),
    'author.logout': async ({ caller }) => {
      await endToken(context, caller.accountKey, caller.tokenId);
      return { status: 204 };
    },
  };
}

export function authorTokenView({ id, machine, created_at, last_used_at, expires_at }: AuthorToken): AuthorTokenView {
  return {
    id,
    machine,
    createdAt: created_at.toISOString(),
    lastUsedAt: last_used_at.toISOString(),
    expiresAt: expires_at.toISOString(),
  };
}
