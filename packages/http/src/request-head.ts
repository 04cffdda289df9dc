// Reads the raw header list of one request, once: refuses what must not be guessed at (RFC 9112 sections 3 and 6)
// and keeps only what may travel on. Every front uses it, so hygiene cannot differ between them.
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '@platform/contract';
import { isPlace } from './places.ts';
import { plainName } from './plain-name.ts';
import { isTraceparent, isTracestate } from './trace-context.ts';
import { trimField } from './trim-field.ts';

/** Fields a request may carry by default; Node cuts the list one above, so that the excess is seen rather than lost. */
export const MAX_HEADER_FIELDS = 100;

export interface RequestHead {
  readonly host: string;
  /** The value as sent; `null` when absent or sent more than once. */
  readonly authorization: string | null;
  /** How many `Authorization` fields were sent. */
  readonly authorizations: number;
  /** Bytes; `null` without a `Content-Length`. */
  readonly contentLength: number | null;
  /** The body is framed by `Transfer-Encoding: chunked`. */
  readonly chunked: boolean;
  /** Name, value, name, value … of what may go upstream. Never framing, credentials, origin or forwarding fields. */
  readonly forwarded: string[];
  /**
   * The caller's own `X-Request-Id`, as name, value; empty without one. Not among `forwarded`: elsewhere the platform's is the
   * only one, but a backend that answers the internet needs it, since senders of webhooks sign it.
   */
  readonly requestId: string[];
}

export type HeadReading =
  | { readonly ok: true; readonly head: RequestHead }
  | { readonly ok: false; readonly refusal: Refusal };

const FORWARD = 0;
const DROP = 1;
const HOST = 2;
const AUTHORIZATION = 3;
const CONTENT_LENGTH = 4;
const TRANSFER_ENCODING = 5;
const CONNECTION = 6;
const TRACEPARENT = 7;
const TRACESTATE = 8;
const REQUEST_ID = 9;

const NAMED: readonly (readonly [string, number])[] = [
  ['Host', HOST],
  ['Authorization', AUTHORIZATION],
  ['Content-Length', CONTENT_LENGTH],
  ['Transfer-Encoding', TRANSFER_ENCODING],
  ['Connection', CONNECTION],
  ['Traceparent', TRACEPARENT],
  ['Tracestate', TRACESTATE],
  ['X-Request-Id', REQUEST_ID],
  ...[
    // Hop-by-hop, RFC 9110 section 7.6.1.
    ...['Keep-Alive', 'Te', 'Trailer', 'Upgrade', 'Http2-Settings', 'Expect'],
    // Ambient authority and identity of the sender, which only the platform may state.
    ...['Cookie', 'Cookie2', 'Origin', 'Forwarded', 'Via', 'X-Real-Ip', 'X-Client-Ip', 'X-Cluster-Client-Ip'],
    ...['True-Client-Ip', 'Cf-Connecting-Ip'],
  ].map((name) => [name, DROP] as const),
  ...['Accept', 'Accept-Encoding', 'Accept-Language', 'Content-Type', 'Content-Encoding', 'User-Agent'].map(
    (name) => [name, FORWARD] as const,
  ),
  ...['Last-Event-Id', 'If-Match', 'If-None-Match', 'Range', 'Cache-Control'].map((name) => [name, FORWARD] as const),
];

const DROPPED_PREFIXES = ['x-platform-', 'platform-', 'x-forwarded', 'proxy-'];

/** Of every head without one. */
const NONE: string[] = [];

/** Keyed by the two spellings that occur in practice, so that the hot path does not lower-case every name. */
const DISPOSITION = new Map<string, number>(
  NAMED.flatMap(([name, disposition]) => [
    [name, disposition],
    [name.toLowerCase(), disposition],
  ]),
);

function dispositionOf(name: string): number {
  const known = DISPOSITION.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const knownLower = DISPOSITION.get(lower);
  if (knownLower !== undefined) return knownLower;
  // CGI-like servers read `X_Forwarded_For` as `X-Forwarded-For`, so no name with an underscore travels.
  if (lower.includes('_')) return DROP;
  const spelled = plainName(lower);
  return isPlace(spelled) || DROPPED_PREFIXES.some((prefix) => spelled.startsWith(prefix)) ? DROP : FORWARD;
}

/**
 * Validates and reads the head of `req`. Does not judge the target, the host or the credential.
 *
 * @param fields how many it may have
 */
export function readRequestHead(req: IncomingMessage, fields = MAX_HEADER_FIELDS): HeadReading {
  const raw = req.rawHeaders;
  if (raw.length > fields * 2) {
    return refused('head_too_large', `A request carries at most ${fields} header fields.`);
  }
  const forwarded: string[] = [];
  let requestId = NONE;
  let host: string | null = null;
  let authorization: string | null = null;
  let authorizations = 0;
  let contentLength: number | null = null;
  let transferEncoding: string | null = null;
  let connection: string | null = null;
  let traceparent: string | null = null;
  let tracestate: string | null = null;

  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    switch (dispositionOf(name)) {
      case FORWARD:
        forwarded.push(name, value);
        break;
      case HOST:
        if (host !== null) return refused('invalid_request', 'Send one Host header.');
        host = value;
        break;
      case AUTHORIZATION:
        authorization = value;
        authorizations += 1;
        break;
      case CONTENT_LENGTH:
        if (contentLength !== null || !/^[0-9]{1,15}$/.test(value)) {
          return refused('invalid_request', 'Send one decimal Content-Length.');
        }
        contentLength = Number.parseInt(value, 10);
        break;
      case TRANSFER_ENCODING:
        if (transferEncoding !== null) return refused('invalid_request', 'Send one Transfer-Encoding.');
        transferEncoding = value;
        break;
      case CONNECTION:
        connection = connection === null ? value : `${connection},${value}`;
        break;
      case TRACEPARENT:
        traceparent = traceparent === null ? value : '';
        break;
      case REQUEST_ID:
        requestId = requestId.concat(name, value);
        break;
      case TRACESTATE:
        tracestate = tracestate === null ? value : `${tracestate},${value}`;
        break;
    }
  }

  if (host === null) return refused('invalid_request', 'Send a Host header.');
  if (transferEncoding !== null) {
    // Other codings would have to be undone here, and in HTTP/1.0 the framing itself cannot be trusted.
    if (transferEncoding.toLowerCase() !== 'chunked' || contentLength !== null || req.httpVersionMinor !== 1) {
      return refused('invalid_request', 'The body must be framed by Content-Length or by chunked encoding alone.');
    }
  }
  if (traceparent !== null && isTraceparent(traceparent)) {
    forwarded.push('traceparent', traceparent);
    if (tracestate !== null && isTracestate(tracestate)) forwarded.push('tracestate', tracestate);
  }
  return {
    ok: true,
    head: {
      host,
      authorization: authorizations === 1 ? authorization : null,
      authorizations,
      contentLength,
      chunked: transferEncoding !== null,
      forwarded: connection === null ? forwarded : withoutConnectionFields(forwarded, connection),
      requestId: connection === null ? requestId : withoutConnectionFields(requestId, connection),
    },
  };
}

/** Whether a field of this name may be forwarded from an arbitrary sender. */
export function mayTravel(name: string): boolean {
  const disposition = dispositionOf(name);
  return disposition === FORWARD || disposition === TRACEPARENT || disposition === TRACESTATE;
}

const PLATFORM_FIELD = /^platform-[a-z0-9-]+$/i;

/** Whether a field is reserved for the platform's own messages to workloads, such as `Platform-Trigger`. */
export function isPlatformField(name: string): boolean {
  return PLATFORM_FIELD.test(name);
}

/** The head with the request's `Platform-*` fields, which are dropped otherwise. Use only where core is the sender. */
export function withPlatformFields(head: RequestHead, { rawHeaders }: IncomingMessage): RequestHead {
  const fields = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && isPlatformField(name) ? [name, rawHeaders[index + 1] ?? ''] : [],
  );
  return fields.length === 0 ? head : { ...head, forwarded: [...head.forwarded, ...fields] };
}

/** Removes the fields that `Connection` declares hop-by-hop. */
function withoutConnectionFields(forwarded: string[], connection: string): string[] {
  if (connection === 'keep-alive' || connection === 'close') return forwarded;
  const named = new Set(connection.split(',').map((token) => trimField(token).toLowerCase()));
  const kept: string[] = [];
  for (let index = 0; index + 1 < forwarded.length; index += 2) {
    const name = forwarded[index] ?? '';
    if (!named.has(name.toLowerCase())) kept.push(name, forwarded[index + 1] ?? '');
  }
  return kept;
}

function refused(code: Refusal['code'], detail: string): HeadReading {
  return { ok: false, refusal: { code, detail } };
}
