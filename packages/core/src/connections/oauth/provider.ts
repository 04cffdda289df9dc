// oidc-provider as the platform uses it: authorization codes with PKCE and refresh tokens for public clients, one resource each, and
// nothing else of what it offers. It shows no pages; a person decides in the shell.
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '@platform/contract';
import { type Client, errors, interactionPolicy, type KoaContext, Provider } from 'oidc-provider';
import { connectOrigin } from '../../config/config.ts';
import type { CoreContext } from '../../context.ts';
import { newCredential } from '../../credentials/credential.ts';
import { PATHS, readResource, requestCookie } from '../addresses.ts';
import { type ReviewedClient, wantedScopes } from '../requests.ts';
import { adapters } from './adapter.ts';
import { ClientDocuments, type DocumentOptions, isDocumentAddress } from './client-documents.ts';
import { refusedPage } from './refused-page.ts';

const DAY_SECONDS = 86_400;
const OFF = { enabled: false } as const;
/** Clients ask for them by habit. They mean nothing here: every connection can be refreshed, and tells nothing of the person. */
const MEANINGLESS_SCOPES = ['openid', 'offline_access', 'profile', 'email'];
/** Its parameters are those of refresh tokens (RFC 6749, section 6). */
const REFRESH_PREFIX = 'pcr_';

type Token = Pick<Client, 'clientId'>;

export interface OpenProvider {
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}

export function openProvider(context: CoreContext, options: DocumentOptions): OpenProvider {
  const { config, log, random } = context;
  const documents = new ClientDocuments(context.clock, options);
  const origin = connectOrigin(config);
  const { Check, Prompt } = interactionPolicy;
  const ask = new Check('undecided', 'a person decides each request', ({ oidc }) => oidc.result?.consent === undefined);
  const provider = new Provider(origin, {
    adapter: adapters(context, documents),
    // It insists on a key for ID tokens. None is given out, so nobody ever sees a signature of this one.
    jwks: {
      keys: [
        { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), use: 'sig' },
      ],
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientAuthMethods: ['none'],
    responseTypes: ['code'],
    scopes: [],
    claims: {},
    pkce: { required: () => true },
    routes: { authorization: PATHS.authorize, token: PATHS.token, revocation: PATHS.revoke },
    cookies: {
      names: { resume: requestCookie(config), interaction: 'unused_interaction', session: 'unused_session' },
      short: { httpOnly: true, sameSite: 'lax', signed: false },
      long: { httpOnly: true, sameSite: 'lax', signed: false },
    },
    ttl: {
      AccessToken: () => limits.connectionTokenSeconds.value,
      AuthorizationCode: () => limits.connectionCodeSeconds.value,
      RefreshToken: () => limits.connectionDays.value * DAY_SECONDS,
      Interaction: () => limits.connectionRequestSeconds.value,
      Grant: () => limits.connectionDays.value * DAY_SECONDS,
      Session: () => limits.connectionRequestSeconds.value,
    },
    features: {
      devInteractions: OFF,
      userinfo: OFF,
      introspection: OFF,
      deviceFlow: OFF,
      registration: OFF,
      rpInitiatedLogout: OFF,
      pushedAuthorizationRequests: OFF,
      requestObjects: OFF,
      claimsParameter: OFF,
      dPoP: OFF,
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx: KoaContext, client: Client, token: Token) => token.clientId === client.clientId,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx: KoaContext, _client: unknown, oneOf?: unknown) => {
          throw new errors.InvalidTarget(oneOf === undefined ? 'resource is missing' : 'name one resource');
        },
        useGrantedResource: async () => true,
        getResourceServerInfo: async (ctx: KoaContext, resource: string) => resourceServer(context, ctx, resource),
      },
    },
    interactions: {
      policy: [new Prompt({ name: 'consent', requestable: true }, (ctx) => ({ client: reviewedClient(ctx) }), ask)],
      url: (_ctx: KoaContext, { uid }: { readonly uid: string }) => `${config.origin}/#/connect/${uid}`,
    },
    // Whether it may still use the account is asked with its connection.
    findAccount: async (_ctx: KoaContext, accountId: string) => ({
      accountId,
      claims: async () => ({ sub: accountId }),
    }),
    loadExistingGrant: async ({ oidc }: KoaContext) => {
      const id = oidc.result?.consent?.grantId;
      return id === undefined ? undefined : provider.Grant.find(id);
    },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => true,
    renderError: (ctx: KoaContext, out: object, error: Error) => refusedPage(config, ctx, out, error),
  });
  named(provider.AccessToken, () => newCredential('connection', random));
  named(provider.RefreshToken, () => REFRESH_PREFIX + random(32).toString('base64url'));
  provider.use(async (ctx, next) => {
    // Its addresses are those of the connect origin, whatever stands before core.
    Object.assign(ctx.request, { originalUrl: origin + ctx.req.url });
    if (origin.startsWith('https:')) Object.defineProperty(ctx.request, 'protocol', { value: 'https' });
    try {
      await next();
    } finally {
      keepRequestCookie(ctx, requestCookie(config));
    }
  });
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'a request of a client failed'));
  provider.on('error', (error: Error) => log.error({ err: error }, 'a request of a client failed'));
  return { answer: provider.callback(), close: () => documents.close() };
}

/** Tokens that can be told apart, by people who find one and by the platform. Its own have no prefix. */
function named(model: Provider['AccessToken'], generate: () => string): void {
  const value = function generateTokenId(this: { format?: string }) {
    this.format = 'opaque';
    return generate();
  };
  Object.defineProperty(model.prototype, 'generateTokenId', { value });
}

/** The one cookie that means something. There are no sessions, so nothing else may look like one. */
function keepRequestCookie({ res }: KoaContext, name: string): void {
  const set = [res.getHeader('set-cookie') ?? []].flat().map(String);
  const kept = set.filter((cookie) => cookie.startsWith(`${name}=`));
  if (kept.length > 0) res.setHeader('set-cookie', kept);
  else res.removeHeader('set-cookie');
}

/** @throws InvalidTarget for what is not here, and InvalidScope */
function resourceServer({ config }: Pick<CoreContext, 'config'>, { oidc }: KoaContext, resource: string) {
  if (Array.isArray(oidc.params?.resource)) throw new errors.InvalidTarget('name one resource');
  if (readResource(config, resource) === null) throw new errors.InvalidTarget();
  const granted = oidc.entities.Grant?.getResourceScope(resource);
  const scope = granted ?? requestedScopes(oidc.params?.scope).join(' ');
  const accessTokenTTL = limits.connectionTokenSeconds.value;
  return { scope, audience: resource, accessTokenFormat: 'opaque', accessTokenTTL };
}

/** @throws InvalidScope when none of what was named exists, and for too many */
function requestedScopes(scope: unknown): string[] {
  const named = typeof scope === 'string' ? scope.split(' ').filter((one) => !MEANINGLESS_SCOPES.includes(one)) : [];
  const most = limits.connectionScopes.value;
  if (named.length > most) throw new errors.InvalidScope(`name at most ${most} scopes`);
  const known = wantedScopes(named.join(' ')).filter((one) => named.length === 0 || named.includes(one));
  if (named.length > 0 && known.length === 0)
    throw new errors.InvalidScope('the scopes are tools:call:<pattern> and tools:propose:<pattern>');
  return known;
}

/** Who asks, as the person is shown it. The redirect address was checked before. */
function reviewedClient({ oidc }: KoaContext): ReviewedClient {
  const { client, params } = oidc;
  if (client === undefined) throw new Error('a request without a client');
  const { hostname, origin } = new URL(String(params?.redirect_uri));
  return {
    id: client.clientId,
    name: client.clientName ?? hostname,
    host: hostname,
    documentHost: isDocumentAddress(client.clientId) ? new URL(client.clientId).hostname : null,
    origin,
  };
}
