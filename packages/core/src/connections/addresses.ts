// Where clients outside the platform reach it, and what they may connect to (contract 4g, From outside).
import { appId } from '@platform/contract';
import { type CoreConfig, connectOrigin, originParts } from '../config/config.ts';

type Place = Pick<CoreConfig, 'origin'>;

/** What clients reach on the connect origin, and nothing else there. */
export function isConnectPath(path: string): boolean {
  return path === TOOLS || /^\/(?:mcp|oauth)\//.test(path) || path.startsWith('/.well-known/oauth-');
}

const TOOLS = '/mcp';

export const PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  server: '/.well-known/oauth-authorization-server',
  resource: '/.well-known/oauth-protected-resource',
} as const;

/** The cookie of a browser that began a request, by which it can go on. */
export function requestCookie(config: Place): string {
  return originParts(config).scheme === 'https' ? '__Secure-platform_connect' : 'platform_connect';
}

/** What a client connects to: the tools of one app, or of all. */
export interface ConnectTarget {
  readonly app: string | null;
}

/** `app` is an app id. */
export function toolsPath({ app }: ConnectTarget): string {
  return app === null ? TOOLS : `${TOOLS}/${app}`;
}

/** The resource indicator (RFC 8707). */
export function resourceOf(config: Place, target: ConnectTarget): string {
  return connectOrigin(config) + toolsPath(target);
}

/** @returns `null` for what is not exactly the resource indicator of something here */
export function readResource(config: Place, resource: string): ConnectTarget | null {
  const origin = connectOrigin(config);
  return resource.startsWith(origin) ? readToolsPath(resource.slice(origin.length)) : null;
}

/** @returns `null` for another path */
export function readToolsPath(path: string): ConnectTarget | null {
  if (path === TOOLS) return { app: null };
  const app = path.startsWith(`${TOOLS}/`) ? path.slice(TOOLS.length + 1) : '';
  return appId.safeParse(app).success ? { app } : null;
}

/** Where the metadata of what is at this place is (RFC 9728, section 3.1). */
export function metadataOf(config: Place, target: ConnectTarget): string {
  return connectOrigin(config) + PATHS.resource + toolsPath(target);
}

/**
 * `WWW-Authenticate` for a request without a token that is valid there, or whose token does not suffice.
 *
 * @param scope what would suffice
 */
export function connectChallenge(
  config: Place,
  target: ConnectTarget,
  { error, scope }: { readonly error?: 'invalid_token' | 'insufficient_scope'; readonly scope?: string } = {},
): string {
  const members = {
    ...(error === undefined ? {} : { error }),
    ...(scope === undefined ? {} : { scope }),
    resource_metadata: metadataOf(config, target),
  };
  return `Bearer ${Object.entries(members)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}
