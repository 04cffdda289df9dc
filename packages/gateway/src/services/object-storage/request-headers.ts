// Which header fields of a request reach the store: those that S3 defines for its operation and that are offered here. Others
// are refused rather than dropped, because a store may read them as a command of its own, and because an app that asks for an
// encrypted, locked or public object must learn that it has not got one. docs/decisions/object-storage-fields.md.
import type { Operation } from './operations.ts';
import { S3Refusal } from './s3-error.ts';

const CONDITIONS = ['if-match', 'if-none-match'];
const READ = [...CONDITIONS, 'if-modified-since', 'if-unmodified-since', 'range', 'x-amz-checksum-mode'];
/** What is stored with an object beside its metadata. */
const DESCRIBE = [
  ...['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-type', 'expires'],
];
const CHECKSUMS = [
  ...['x-amz-checksum-crc32', 'x-amz-checksum-crc32c', 'x-amz-checksum-crc64nvme', 'x-amz-checksum-sha1'],
  ...['x-amz-checksum-sha256', 'x-amz-checksum-algorithm', 'x-amz-checksum-type', 'x-amz-sdk-checksum-algorithm'],
];
const BODY = ['content-md5', 'content-type', ...CHECKSUMS];
const COPY = [
  ...['match', 'modified-since', 'none-match', 'unmodified-since'].map((one) => `x-amz-copy-source-if-${one}`),
];

/** What S3 defines for each operation, as far as it is offered (Amazon S3 API Reference, "Request Syntax" of each). */
const OFFERED: Readonly<Record<Operation['name'], ReadonlySet<string>>> = {
  ListMultipartUploads: new Set(),
  GetBucketLocation: new Set(),
  ListObjectsV2: new Set(),
  ListObjects: new Set(),
  HeadBucket: new Set(),
  DeleteObjects: new Set(BODY),
  ListParts: new Set(),
  GetObject: new Set(READ),
  HeadObject: new Set(READ),
  UploadPart: new Set(BODY),
  UploadPartCopy: new Set([...COPY, 'x-amz-copy-source-range']),
  PutObject: new Set([...BODY, ...DESCRIBE, ...CONDITIONS]),
  CopyObject: new Set([...CHECKSUMS, ...DESCRIBE, ...COPY, ...CONDITIONS, 'x-amz-metadata-directive']),
  CreateMultipartUpload: new Set([...CHECKSUMS, ...DESCRIBE]),
  CompleteMultipartUpload: new Set([...BODY, ...CONDITIONS, 'x-amz-mp-object-size']),
  AbortMultipartUpload: new Set(),
  DeleteObject: new Set(['if-match']),
};
const WITH_METADATA: ReadonlySet<Operation['name']> = new Set(['PutObject', 'CopyObject', 'CreateMultipartUpload']);
const METADATA = 'x-amz-meta-';
const METADATA_NAME = /^[a-z0-9][a-z0-9._-]*$/;
/** Words by which stores name metadata that they obey: MinIO and RustFS, Ceph, SeaweedFS, Zenko, lakeFS. */
const COMMANDS = new Set([
  ...['snowball', 'minio', 'rustfs', 'rgw', 'rgwx', 'ceph', 'seaweed', 'seaweedfs', 'scal', 'lakefs'],
]);

/** Of the signature, which is made anew, or for the logs of Amazon. */
const DROPPED = new Set([
  'x-amz-content-sha256',
  'x-amz-copy-source',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-user-agent',
]);

/** What S3 defines and is not offered, as it begins. */
const NOT_OFFERED = [
  ...['x-amz-acl', 'x-amz-grant-', 'x-amz-storage-class', 'x-amz-server-side-encryption', 'x-amz-object-lock-'],
  ...['x-amz-tagging', 'x-amz-website-redirect-location', 'x-amz-request-payer', 'x-amz-expected-bucket-owner'],
  ...['x-amz-source-expected-bucket-owner', 'x-amz-copy-source-server-side-encryption', 'x-amz-write-offset-bytes'],
  ...['x-amz-mfa', 'x-amz-bypass-governance-retention', 'x-amz-optional-object-attributes', 'x-amz-if-match-'],
];

/** Fields that say what is the case here anyway. */
const ONLY: Readonly<Record<string, string>> = { 'x-amz-acl': 'private', 'x-amz-storage-class': 'STANDARD' };

/** Fields of HTTP, of tracing and of clients, which mean nothing to an operation: they stay here. */
const OF_HTTP = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'amz-sdk-invocation-id', 'amz-sdk-request'],
  ...['authorization', 'baggage', 'b3', 'connection', 'content-length', 'cookie', 'date', 'dnt', 'expect', 'forwarded'],
  ...['from', 'host', 'if-range', 'keep-alive', 'origin', 'pragma', 'priority', 'proxy-connection', 'referer', 'te'],
  ...['sentry-trace', 'traceparent', 'tracestate', 'trailer', 'transfer-encoding', 'uber-trace-id', 'upgrade'],
  ...['upgrade-insecure-requests', 'user-agent', 'via', 'x-amzn-trace-id', 'x-cloud-trace-context', 'x-real-ip'],
  ...['x-request-id', 'x-correlation-id', 'x-requested-with'],
]);
const OF_HTTP_PREFIXES = ['sec-', 'x-forwarded-', 'x-b3-', 'x-datadog-'];
/** Without a meaning for some operations, which stock clients send all the same. */
const DESCRIBES = new Set([...READ, ...DESCRIBE, 'content-md5'].filter((name) => !name.startsWith('x-amz-')));

/** Values that some fields can have. */
const WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['x-amz-metadata-directive', /^(?:COPY|REPLACE)$/],
  ['x-amz-checksum-mode', /^ENABLED$/i],
  ['x-amz-checksum-type', /^(?:COMPOSITE|FULL_OBJECT)$/],
  ['x-amz-checksum-algorithm', /^[A-Z0-9]{3,12}$/i],
  ['x-amz-sdk-checksum-algorithm', /^[A-Z0-9]{3,12}$/i],
  ['x-amz-mp-object-size', /^\d{1,15}$/],
  ['x-amz-copy-source-range', /^bytes=\d{1,15}-\d{1,15}$/],
]);

/** Each client has a switch of its own. */
const STREAMING_CURE = [
  'Streaming signatures are not offered here. Have the client sign whole bodies, or none.',
  'AWS SDKs, boto3 and the AWS CLI: AWS_REQUEST_CHECKSUM_CALCULATION=when_required, as the platform sets it; for Java also chunkedEncodingEnabled(false), for .NET UseChunkEncoding = false.',
  'minio-go: PutObjectOptions{DisableContentSha256: true}, and no TrailingHeaders.',
  'rclone: RCLONE_S3_PROVIDER=Other and RCLONE_S3_USE_DATA_INTEGRITY_PROTECTIONS=false.',
  's3cmd signs whole bodies by itself.',
  'restic has no switch: use its rclone backend.',
].join(' ');

export type Fields = ReadonlyMap<string, string>;

/** All fields by name in lower case. @throws S3Refusal for one that stands twice and means something to a store */
export function fieldsOf(rawHeaders: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (fields.has(name) && !isOfHttp(name))
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
export function passingFields(operation: Operation['name'], fields: Fields): Record<string, string> {
  const passing: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (passes(operation, name)) {
      if (WORDS.get(name)?.test(value) === false)
        throw new S3Refusal('InvalidArgument', `The field "${name}" cannot have this value.`);
      passing[name] = value;
    } else if (!DROPPED.has(name) && !isOfHttp(name) && !DESCRIBES.has(name) && ONLY[name] !== value)
      throw refusalOf(operation, name);
  }
  return passing;
}

function passes(operation: Operation['name'], name: string): boolean {
  if (OFFERED[operation].has(name)) return true;
  if (!name.startsWith(METADATA) || !WITH_METADATA.has(operation)) return false;
  const own = name.slice(METADATA.length);
  return METADATA_NAME.test(own) && !own.split(/[._-]/).some((word) => COMMANDS.has(word));
}

function isOfHttp(name: string): boolean {
  return OF_HTTP.has(name) || OF_HTTP_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function refusalOf(operation: Operation['name'], name: string): S3Refusal {
  return NOT_OFFERED.some((prefix) => name.startsWith(prefix))
    ? new S3Refusal('NotImplemented', `The field "${name}" is not offered here.`)
    : new S3Refusal('InvalidRequest', `The field "${name}" is none that ${operation} takes here.`);
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
