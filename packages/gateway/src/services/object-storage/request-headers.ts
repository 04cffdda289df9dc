// Which header fields of a request reach the store. Fields that would change what an operation does, and are not in
// these lists, are refused rather than dropped: an app that asks for an encrypted, locked or public object must learn
// that it has not got one.
import { S3Refusal } from './s3-error.ts';

const PASSING = new Set([
  ...['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-md5', 'content-type'],
  ...['expires', 'if-match', 'if-modified-since', 'if-none-match', 'if-unmodified-since', 'range'],
  ...['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type', 'x-amz-mp-object-size'],
  ...['x-amz-metadata-directive', 'x-amz-sdk-checksum-algorithm'],
  ...['match', 'modified-since', 'none-match', 'unmodified-since'].map((one) => `x-amz-copy-source-if-${one}`),
  'x-amz-copy-source-range',
]);
const PASSING_PREFIXES = ['x-amz-meta-', 'x-amz-checksum-'];

/** Of the signature, which is made anew, or for the logs of Amazon. */
const DROPPED = new Set([
  'x-amz-content-sha256',
  'x-amz-copy-source',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-user-agent',
]);

/** Fields that say what is the case here anyway. */
const ONLY: Readonly<Record<string, string>> = { 'x-amz-acl': 'private', 'x-amz-storage-class': 'STANDARD' };

const STREAMING_CURE =
  'Streaming signatures are not offered here: set AWS_REQUEST_CHECKSUM_CALCULATION=when_required, as the platform does in the environment, and do not override it.';

export type Fields = ReadonlyMap<string, string>;

/** All fields by name in lower case. @throws S3Refusal for one that stands twice and means something to a store */
export function fieldsOf(rawHeaders: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (fields.has(name) && (PASSING.has(name) || name.startsWith('x-amz-')))
      throw new S3Refusal('InvalidRequest', `The field "${name}" is there twice.`);
    fields.set(name, value);
  }
  return fields;
}

/** @throws S3Refusal */
export function refuseStreaming(fields: Fields): void {
  const payload = fields.get('x-amz-content-sha256') ?? '';
  const coding = fields.get('content-encoding') ?? '';
  if (payload.toUpperCase().startsWith('STREAMING-') || /\baws-chunked\b/i.test(coding))
    throw new S3Refusal('InvalidRequest', STREAMING_CURE);
  if (fields.has('x-amz-trailer') || fields.has('x-amz-decoded-content-length'))
    throw new S3Refusal('InvalidRequest', STREAMING_CURE);
}

/** The fields that travel on. @throws S3Refusal */
export function passingFields(fields: Fields): Record<string, string> {
  const passing: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (PASSING.has(name) || PASSING_PREFIXES.some((prefix) => name.startsWith(prefix))) passing[name] = value;
    else if (name.startsWith('x-amz-') && !DROPPED.has(name) && ONLY[name] !== value)
      throw new S3Refusal('NotImplemented', `The field "${name}" is not offered here.`);
  }
  return passing;
}

const HASH = /^[0-9a-f]{64}$/;

/** What the client says the hash of its body is; `null` when it says none. @throws S3Refusal */
export function statedHash(fields: Fields): string | null {
  const stated = fields.get('x-amz-content-sha256');
  if (stated === undefined || stated === 'UNSIGNED-PAYLOAD') return null;
  if (!HASH.test(stated))
    throw new S3Refusal('InvalidRequest', 'x-amz-content-sha256 is not a SHA-256 in hexadecimal.');
  return stated;
}
