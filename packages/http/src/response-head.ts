// Which fields of an upstream's answer may pass. Those of one connection never do; the caller, which knows the
// upstream, decides about the rest. `Vary` is a list to which each hop adds.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { trimField } from './trim-field.ts';
import { mergeVary } from './vary.ts';

/** Hop-by-hop fields (RFC 9110 section 7.6.1) and framing, which each connection states anew. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['proxy-authentication-info', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
]);

/**
 * Selects the fields of an answer that pass, as name, value, name, value …; `res` is the response to write to, with the
 * status that it will have.
 */
export type ResponseFilter = (headers: IncomingHttpHeaders, res: ServerResponse) => (string | string[])[];

/**
 * Makes a filter that passes every end-to-end field except those for which `drops` returns true. `Vary` always passes, with
 * the names that `res` already has. `Content-Length` comes last: Node reads a `Content-Disposition` behind it as UTF-8, and
 * so changes or refuses its bytes.
 *
 * @param drops gets the name in lower case
 */
export function responseFilter(drops: (name: string, res: ServerResponse) => boolean): ResponseFilter {
  return (headers, res) => {
    const named = connectionFields(headers.connection);
    const kept: (string | string[])[] = [];
    let length: string | undefined;
    for (const name of Object.keys(headers)) {
      const value = headers[name];
      if (value === undefined || HOP_BY_HOP.has(name) || named?.has(name)) continue;
      if (name === 'vary') kept.push(name, mergeVary(res.getHeader(name), value));
      else if (drops(name, res)) continue;
      else if (name === 'content-length' && typeof value === 'string') length = value;
      else kept.push(name, value);
    }
    if (length !== undefined) kept.push('content-length', length);
    return kept;
  };
}

/** A filter that also adds an `X-Request-Id` of ours where the upstream gave none: every answer has one (contract 1). */
export function ensuringRequestId(filter: ResponseFilter): ResponseFilter {
  return (headers, res) => {
    const passed = filter(headers, res);
    if (headers['x-request-id'] === undefined) passed.push('x-request-id', randomUUID());
    return passed;
  };
}

/** The fields that `Connection` declares hop-by-hop; `null` for none. */
function connectionFields(connection: string | undefined): Set<string> | null {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null;
  return new Set(connection.split(',').map((token) => trimField(token).toLowerCase()));
}
