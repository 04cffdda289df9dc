// Whether a handler may see a request: its version, method, head, host and target. The server of HTTP/1.1 decides by this,
// and so do the fronts that put requests of another version as HTTP/1.1 would, so that all mean the same.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { checkRequestTarget, type Refusal, type RequestTarget } from '@platform/contract';
import { type RequestHead, readRequestHead } from './request-head.ts';

/** A request with a valid head. */
export interface AcceptedRequest {
  readonly req: IncomingMessage;
  readonly head: RequestHead;
  /** Path as sent, without query, accepted by the server's `readTarget`. */
  readonly path: string;
  /** `?…` as sent, or empty. */
  readonly query: string;
}

export interface AcceptOptions {
  /**
   * Whether the `Host`, lower case and with its port, is served here; any other is refused with 421 `unknown_host`.
   *
   * @param connection on which it was sent: over TLS, only a host that the certificate names is served
   */
  isOwnHost(host: string, connection: Duplex): boolean;
  /**
   * Whether a target in origin form is taken, and its parts. Default: `checkRequestTarget`; a front of files, which
   * resolves dot segments itself, takes more.
   */
  readTarget?(target: string, host: string): RequestTarget;
}

/** For the `Allow` of methods that no resource offers. */
export const OFFERED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export const UNKNOWN_EXPECTATION: Refusal = {
  code: 'invalid_request',
  detail: 'Only the expectation 100-continue can be met.',
};

/**
 * The request as a handler may see it, with its target in origin form; or why it is refused.
 *
 * @param limits `headFields` is the most fields that it may have
 */
export function acceptRequest(
  req: IncomingMessage,
  options: AcceptOptions,
  { headFields }: { readonly headFields: number },
  connection: Duplex = req.socket,
): AcceptedRequest | Refusal {
  if (req.httpVersionMajor !== 1 || req.httpVersionMinor > 1)
    return { code: 'invalid_request', detail: 'Use HTTP/1.1.' };
  if (req.method === 'TRACE')
    return { code: 'method_not_allowed', detail: 'TRACE is not offered here.', allow: OFFERED_METHODS };
  const reading = readRequestHead(req, headFields);
  if (!reading.ok) return reading.refusal;
  const { head } = reading;
  if (!HOST.test(head.host)) return { code: 'invalid_request', detail: 'Send the name of a host as Host.' };
  if (!options.isOwnHost(head.host, connection) && !options.isOwnHost(head.host.toLowerCase(), connection))
    return { code: 'unknown_host' };
  const scheme = connection instanceof TLSSocket ? 'https' : 'http';
  const origin = originForm(req.url ?? '', `${scheme}://${head.host}`);
  if (origin === null) return { code: 'unknown_host', detail: 'The target names another host.' };
  const target = options.readTarget?.(origin, head.host) ?? checkRequestTarget(origin);
  if (!target.ok) return { code: 'invalid_path' };
  req.url = origin;
  return { req, head, path: target.path, query: target.query };
}

/** A name or an address, with or without a port: a subset of RFC 3986 section 3.2 that all parsers read alike. */
const HOST = /^(?:[a-z0-9_.-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/i;

/** Absolute form, RFC 9112 section 3.2.2: scheme and authority, then an optional path and query. */
const ABSOLUTE_FORM = /^(https?:\/\/[^/?#]*)([/?].*)?$/i;

/** The target in origin form; `null` when it is absolute and names anything but `own`, scheme and authority. */
function originForm(target: string, own: string): string | null {
  if (target.startsWith('/')) return target;
  const absolute = ABSOLUTE_FORM.exec(target);
  if (absolute === null) return target;
  if (absolute[1]?.toLowerCase() !== own.toLowerCase()) return null;
  const rest = absolute[2] ?? '/';
  return rest.startsWith('?') ? `/${rest}` : rest;
}
