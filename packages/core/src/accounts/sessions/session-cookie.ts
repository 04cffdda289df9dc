// The session cookie (contract 2): host-only, out of reach of scripts; on https Secure and prefixed. And what is done
// about cookies of its name that others set.
import type { IncomingMessage } from 'node:http';
import { trimField } from '@platform/http';
import { type CoreConfig, originParts, sessionCookieName } from '../../config/config.ts';

type CookieConfig = Pick<CoreConfig, 'origin' | 'sessionCookie' | 'sessionMilliseconds'>;

/** The values of `Set-Cookie` that sign a browser in, the session's first. */
export function sessionCookies(config: CookieConfig, token: string): string[] {
  return [cookie(config, token, Math.floor(config.sessionMilliseconds / 1000)), ...removedOthers(config)];
}

/** The values of `Set-Cookie` that sign a browser out. */
export function clearedSessionCookies(config: CookieConfig): string[] {
  return [cookie(config, '', 0), ...removedOthers(config)];
}

function cookie(config: CookieConfig, value: string, maxAge: number): string {
  const secure = originParts(config).scheme === 'https' ? '; Secure' : '';
  return `${sessionCookieName(config)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * Removes cookies of the session's name that are not the session's: on http those for the domains above the shell's
 * host, where apps on sibling hosts can set them (the top-level one takes no cookies); on https the one without prefix,
 * as it was called before it had one. A cookie for another path stays: browsers remove only what is named exactly.
 */
function removedOthers({ origin, sessionCookie }: CookieConfig): string[] {
  const gone = `${sessionCookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`;
  const { protocol, hostname } = new URL(origin);
  if (protocol === 'https:') return [`${gone}; Secure`];
  const labels = hostname.split('.');
  return labels.slice(1, -1).map((_, index) => `${gone}; Domain=${labels.slice(index + 1).join('.')}`);
}

/** Whether a browser holds cookies of the session's name that are not the session's: there is one session at most. */
export function holdsPlantedCookies(request: IncomingMessage, config: CookieConfig): boolean {
  return presentedTokens(request, config).length > 1;
}

/** The session token that a browser presents, if any; `null` also when two cookies have the name. */
export function presentedSessionToken(request: IncomingMessage, config: CookieConfig): string | null {
  const values = presentedTokens(request, config);
  return values.length === 1 && values[0] !== undefined && values[0] !== '' ? values[0] : null;
}

/** Every value that the request sends under the name of the session cookie (RFC 6265, section 4.2). */
export function presentedTokens({ headers: { cookie = '' } }: IncomingMessage, config: CookieConfig): string[] {
  const name = sessionCookieName(config);
  const values: string[] = [];
  for (const pair of cookie.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && trimField(pair.slice(0, equals)) === name) values.push(trimField(pair.slice(equals + 1)));
  }
  return values;
}
