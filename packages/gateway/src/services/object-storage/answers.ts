// Answers of the store as the app may see them: its own names, and nothing about the store's owner, bucket or credentials.
import type { IncomingHttpHeaders } from 'node:http';
import { childText, decodeListed, encodeKey, type StoreCredentials, type XmlElement } from '@platform/http/s3';
import { APP_BUCKET, type KeySpace } from './keys.ts';
import type { ErrorDocument } from './s3-error.ts';

const PASSING = new Set([
  ...['accept-ranges', 'cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-range'],
  ...['content-type', 'date', 'etag', 'expires', 'last-modified'],
  ...[
    'x-amz-checksum-type',
    'x-amz-missing-meta',
    'x-amz-mp-parts-count',
    'x-amz-request-id',
    'x-amz-server-side-encryption',
  ],
]);
const PASSING_PREFIXES = ['x-amz-meta-', 'x-amz-checksum-'];

/** The fields of an answer that pass, without its length. */
export function passingAnswer(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passing: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    if (PASSING.has(name) || PASSING_PREFIXES.some((prefix) => name.startsWith(prefix))) passing[name] = value;
  }
  return passing;
}

/** Elements that name an object, what objects begin with, or a position between them. */
const NAMES = new Set([...['Key', 'KeyMarker', 'Marker', 'NextKeyMarker', 'NextMarker', 'Prefix', 'StartAfter']]);
/** Of the account that owns the store. */
const DROPPED = new Set(['Owner', 'Initiator', 'HostId', 'BucketName', 'Resource']);

/**
 * A document of the store in the app's names.
 *
 * @param origin where the app reaches this service, for the address of an object
 * @throws UnconfinedError when it names anything outside the prefix
 */
export function documentInApp(document: XmlElement, keys: KeySpace, origin: string): XmlElement {
  const isEncoded = childText(document, 'EncodingType') === 'url';
  const nameInApp = (name: string): string => {
    // An empty position is the begin of the listing.
    if (name === '') return '';
    if (!isEncoded) return keys.inApp(name);
    return encodeKey(keys.inApp(decodeListed(name)));
  };
  const key = childText(document, 'Key');
  const inApp = (element: XmlElement, parent: string): XmlElement[] => {
    const { name, text = '', children } = element;
    if (DROPPED.has(name)) return [];
    if (NAMES.has(name)) return [{ name, text: nameInApp(text) }];
    if (name === 'Bucket' || (name === 'Name' && parent === document.name)) return [{ name, text: APP_BUCKET }];
    if (name === 'Location' && parent === document.name && key !== undefined)
      return [{ name, text: `${origin}/${APP_BUCKET}/${encodeKey(keys.inApp(key))}` }];
    if (children === undefined) return [{ name, text }];
    return [{ name, children: children.flatMap((child) => inApp(child, name)) }];
  };
  const { children = [] } = document;
  return { name: document.name, children: children.flatMap((child) => inApp(child, document.name)) };
}

/** Codes that say something about the operator's credentials, bucket or clock: nothing an app could act on. */
const OF_THE_OPERATOR = new Set([
  ...[
    'AccountProblem',
    'AuthorizationHeaderMalformed',
    'CredentialsNotSupported',
    'ExpiredToken',
    'InvalidAccessKeyId',
  ],
  ...['InvalidBucketName', 'InvalidSecurity', 'InvalidToken', 'MissingSecurityHeader', 'NoSuchBucket', 'NotSignedUp'],
  ...['PermanentRedirect', 'Redirect', 'RequestTimeTooSkewed', 'SignatureDoesNotMatch', 'TemporaryRedirect'],
  ...['TokenRefreshRequired', 'AllAccessDisabled', 'InvalidPayer', 'InvalidLocationConstraint'],
]);
const CODE = /^[A-Za-z0-9.]{1,64}$/;

/** Shorter ones, as of a store for development, are words that stand in any sentence. */
const SHORTEST_KEY = 8;

function quotes(text: string, { accessKeyId, secretAccessKey, sessionToken = '' }: StoreCredentials): boolean {
  const keys = [accessKeyId, secretAccessKey, sessionToken];
  return keys.some((one) => one.length >= SHORTEST_KEY && text.includes(one));
}

interface ErrorSource {
  readonly keys: KeySpace;
  readonly bucket: string;
  readonly credentials: StoreCredentials;
}

/** What the log says of an error that concerns the operator alone: a known code, since a store may quote what it was sent. */
export function codeForLog(document: XmlElement): string {
  const code = childText(document, 'Code') ?? '';
  return OF_THE_OPERATOR.has(code) ? code : 'UNKNOWN_CODE';
}

/** An error of the store for the app, or `null` when it concerns the operator alone. */
export function errorInApp(document: XmlElement, { keys, bucket, credentials }: ErrorSource): ErrorDocument | null {
  const code = childText(document, 'Code') ?? '';
  const quotesKey = (text: string) => quotes(text, credentials);
  if (document.name !== 'Error' || !CODE.test(code) || OF_THE_OPERATOR.has(code) || quotesKey(code)) return null;
  const said = childText(document, 'Message') ?? '';
  const message = quotesKey(said) ? 'The object store refused this request.' : keys.sentenceInApp(said, bucket);
  const key = childText(document, 'Key');
  return { code, message, ...(key === undefined || key === '' ? {} : { key: keys.inApp(key) }) };
}
