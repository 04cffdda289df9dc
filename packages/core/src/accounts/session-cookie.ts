// The session cookie (contract 2): host-only, out of reach of scripts, Secure on https.
import type { IncomingMessage } from 'node:http';
import { type CoreConfig, originParts } from '../config/config.ts';
import { cookieValues } from '../http/authenticate.ts';

type CookieConfig = Pick<CoreConfig, 'origin' | 'sessionCookie' | 'sessionMilliseconds'>;

export function sessionCookie(config: CookieConfig, token: string): string {
  return cookie(config, token, Math.floor(config.sessionMilliseconds / 1000));
}

export function clearedSessionCookie(config: CookieConfig): string {
  return cookie(config, '', 0);
}

function cookie(config: CookieConfig, value: string, maxAge: number): string {
  const secure = originParts(config).scheme === 'https' ? '; Secure' : '';
  return `${config.sessionCookie}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}

/** The session token that a browser presents, if any; `null` also when two cookies have the name. */
export function presentedSessionToken(request: IncomingMessage, config: CookieConfig): string | null {
  const values = cookieValues(request.headers.cookie ?? '', config.sessionCookie);
  return values.length === 1 && values[0] !== undefined && values[0] !== '' ? values[0] : null;
}
