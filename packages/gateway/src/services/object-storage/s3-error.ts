// How this service refuses: with the error document of S3, which stock clients turn into their own typed errors (Amazon
// S3 API Reference, "Error responses").
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { errors, type Refusal } from '@platform/contract';
import { endResponse } from '@platform/http';
import { writeXml } from '@platform/http/s3';

const statuses = {
  AccessDenied: 403,
  BadDigest: 400,
  EntityTooLarge: 400,
  InternalError: 500,
  InvalidArgument: 400,
  InvalidRequest: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  NotImplemented: 501,
  RequestTimeout: 400,
  ServiceUnavailable: 503,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const satisfies Record<string, number>;

export type S3Code = keyof typeof statuses;

export const PRESIGNED_CURE =
  'Presigned addresses are not offered here: send the request itself, with the session token as x-amz-security-token.';
const TOKEN_CURE = 'Give the client PLATFORM_S3_SESSION_TOKEN as the session token of its credentials.';

/** A refusal that the caller can cause, thrown while its request is read. */
export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly code: S3Code;

  /** @param message what happened and what to do; the caller reads it */
  constructor(code: S3Code, message: string) {
    super(message);
    this.code = code;
  }
}

/** Ends `res` with an error document. @returns the request id in it */
export function sendS3Error(res: ServerResponse, code: S3Code, message: string): string {
  return sendErrorDocument(res, statuses[code], { code, message });
}

export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  /** The key in question, as the app knows it. */
  readonly key?: string;
  /** Seconds. Default: 1 with status 503. */
  readonly retryAfter?: number | undefined;
}

/** The same with a status and a code that the store chose. */
export function sendErrorDocument(res: ServerResponse, status: number, document: ErrorDocument): string {
  const { code, message, key, retryAfter = status === 503 ? 1 : null } = document;
  const requestId = String(res.getHeader('x-request-id') ?? randomUUID());
  if (res.headersSent) {
    // Half of an answer must not look complete.
    res.destroy();
    return requestId;
  }
  const error = {
    name: 'Error',
    children: [
      { name: 'Code', text: code },
      { name: 'Message', text: message },
      ...(key === undefined ? [] : [{ name: 'Key', text: key }]),
      { name: 'RequestId', text: requestId },
    ],
  };
  const body = Buffer.from(writeXml(error));
  res.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': body.length,
    'x-request-id': requestId,
    'x-amz-request-id': requestId,
    ...(retryAfter === null ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
  });
  endResponse(res, res.req.method === 'HEAD' ? null : body);
  return requestId;
}

/** A refusal of the Gateway or of core in S3's words. */
export function sendRefusal(res: ServerResponse, refusal: Refusal): string {
  const { code, detail = errors[code].title } = refusal;
  if (code === 'unauthenticated') {
    // A presigned address carries the token in its query, where it does not count.
    if (/[?&](?:x-amz-signature|signature)=/i.test(res.req.url ?? ''))
      return sendS3Error(res, 'InvalidRequest', PRESIGNED_CURE);
    return sendS3Error(res, 'AccessDenied', TOKEN_CURE);
  }
  const s3 = S3_CODES[code] ?? byStatus(errors[code].status);
  return sendErrorDocument(res, statuses[s3], { code: s3, message: detail, retryAfter: refusal.retryAfter });
}

const S3_CODES: Partial<Record<Refusal['code'], S3Code>> = {
  concurrency_limited: 'SlowDown',
  rate_limited: 'SlowDown',
  payload_too_large: 'EntityTooLarge',
};

function byStatus(status: number): S3Code {
  if (status === 403 || status === 404) return 'AccessDenied';
  if (status < 500) return 'InvalidRequest';
  return status === 500 ? 'InternalError' : 'ServiceUnavailable';
}
