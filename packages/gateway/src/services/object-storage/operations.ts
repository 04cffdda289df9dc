// Which operations of S3 are offered (contract 4c), and which one a request is. What is not in this table does not exist:
// every other sub-resource, query parameter and header that changes what an operation does is refused.
import { hasDotSegment } from '@platform/http/s3';
import { APP_BUCKET, decodeStrictly, isUnreadable } from './keys.ts';
import { PRESIGNED_CURE, S3Refusal } from './s3-error.ts';

interface Rule {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Whether it names an object, or the bucket. */
  readonly of: 'object' | 'bucket';
  /** Query parameters that it must have. */
  readonly needs: readonly string[];
  /** Query parameters that it may have besides. */
  readonly takes: readonly string[];
  /** Whether it has a body, and so takes one of the few places for buffers. */
  readonly body?: true;
  /** The name of the same operation where `x-amz-copy-source` names what to copy. */
  readonly copy?: 'CopyObject' | 'UploadPartCopy';
}

const OVERRIDES = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-type'];
const READING = ['partNumber', 'response-expires', ...OVERRIDES.map((name) => `response-${name}`)];

/** The more a rule needs, the earlier it stands among those of its method. */
const rules = {
  ListMultipartUploads: {
    method: 'GET',
    of: 'bucket',
    needs: ['uploads'],
    takes: ['prefix', 'delimiter', 'key-marker', 'upload-id-marker', 'max-uploads', 'encoding-type'],
  },
  GetBucketLocation: { method: 'GET', of: 'bucket', needs: ['location'], takes: [] },
  ListObjectsV2: {
    method: 'GET',
    of: 'bucket',
    needs: ['list-type'],
    takes: ['prefix', 'delimiter', 'max-keys', 'continuation-token', 'start-after', 'encoding-type', 'fetch-owner'],
  },
  ListObjects: {
    method: 'GET',
    of: 'bucket',
    needs: [],
    takes: ['prefix', 'delimiter', 'marker', 'max-keys', 'encoding-type'],
  },
  HeadBucket: { method: 'HEAD', of: 'bucket', needs: [], takes: [] },
  DeleteObjects: { method: 'POST', of: 'bucket', needs: ['delete'], takes: [], body: true },
  ListParts: {
    method: 'GET',
    of: 'object',
    needs: ['uploadId'],
    takes: ['max-parts', 'part-number-marker', 'encoding-type'],
  },
  GetObject: { method: 'GET', of: 'object', needs: [], takes: READING },
  HeadObject: { method: 'HEAD', of: 'object', needs: [], takes: READING },
  UploadPart: {
    method: 'PUT',
    of: 'object',
    needs: ['partNumber', 'uploadId'],
    takes: [],
    body: true,
    copy: 'UploadPartCopy',
  },
  PutObject: { method: 'PUT', of: 'object', needs: [], takes: [], body: true, copy: 'CopyObject' },
  CreateMultipartUpload: { method: 'POST', of: 'object', needs: ['uploads'], takes: [] },
  CompleteMultipartUpload: { method: 'POST', of: 'object', needs: ['uploadId'], takes: [], body: true },
  AbortMultipartUpload: { method: 'DELETE', of: 'object', needs: ['uploadId'], takes: [] },
  DeleteObject: { method: 'DELETE', of: 'object', needs: [], takes: [] },
} as const satisfies Readonly<Record<string, Rule>>;

export interface Operation {
  readonly name: keyof typeof rules | 'CopyObject' | 'UploadPartCopy';
  /** Decoded, as the app knows it; empty for the bucket. */
  readonly key: string;
  /** Decoded query parameters that travel on, without those that only repeat the name of the operation. */
  readonly query: ReadonlyMap<string, string>;
  readonly body: boolean;
}

const PRESIGNED =
  /^(?:x-amz-(?:algorithm|credential|date|expires|signature|signedheaders|security-token)|awsaccesskeyid|signature|expires)$/i;
const NO_CREATION = `The bucket "${APP_BUCKET}" is there already, and none can be created. With rclone, set RCLONE_S3_NO_CHECK_BUCKET=true.`;
/** Stock clients name the operation in it. */
const REPEATED = 'x-id';

/**
 * @param path as sent, e.g. `/app/photos/one%20day.jpg`
 * @param query as sent, with its `?`
 * @throws S3Refusal
 */
export function operationOf(method: string, path: string, query: string, isCopy: boolean): Operation {
  const parameters = parametersOf(query);
  const { bucket, key } = namesOf(path);
  if (bucket === '') throw new S3Refusal('AccessDenied', `There is one bucket, "${APP_BUCKET}": name it in the path.`);
  if (bucket !== APP_BUCKET) throw new S3Refusal('AccessDenied', `There is one bucket, "${APP_BUCKET}".`);
  const of = key === '' ? 'bucket' : 'object';
  for (const [name, rule] of Object.entries<Rule>(rules)) {
    if (rule.method !== method || rule.of !== of || !rule.needs.every((needed) => parameters.has(needed))) continue;
    const stranger = [...parameters.keys()].find((one) => !rule.needs.includes(one) && !rule.takes.includes(one));
    if (stranger !== undefined)
      throw new S3Refusal('AccessDenied', `The parameter "${stranger}" is not offered for this operation here.`);
    if (isCopy && rule.copy === undefined)
      throw new S3Refusal('InvalidRequest', 'Only objects and parts of uploads are copied.');
    return {
      name: (isCopy && rule.copy !== undefined ? rule.copy : name) as Operation['name'],
      key,
      query: parameters,
      body: rule.body === true && !isCopy,
    };
  }
  if (method === 'PUT' && of === 'bucket' && parameters.size === 0) throw new S3Refusal('AccessDenied', NO_CREATION);
  throw new S3Refusal('AccessDenied', 'This operation is not offered here.');
}

function namesOf(path: string): { readonly bucket: string; readonly key: string } {
  const end = path.indexOf('/', 1);
  return end === -1
    ? { bucket: decodeStrictly(path.slice(1)), key: '' }
    : { bucket: decodeStrictly(path.slice(1, end)), key: decodeStrictly(path.slice(end + 1)) };
}

function parametersOf(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.slice(1).split('&')) {
    if (pair === '') continue;
    const mark = pair.indexOf('=');
    const name = decodeParameter(mark === -1 ? pair : pair.slice(0, mark));
    if (PRESIGNED.test(name)) throw new S3Refusal('InvalidRequest', PRESIGNED_CURE);
    if (name === REPEATED) continue;
    if (parameters.has(name)) throw new S3Refusal('InvalidArgument', `The parameter "${name}" is there twice.`);
    const value = mark === -1 ? '' : decodeParameter(pair.slice(mark + 1));
    if (!isValue(name, value)) throw new S3Refusal('InvalidArgument', `The value of "${name}" is not one it can have.`);
    parameters.set(name, value);
  }
  return parameters;
}

const WORDS: ReadonlyMap<string, RegExp> = new Map([
  ...['partNumber', 'part-number-marker', 'max-keys', 'max-uploads', 'max-parts'].map(
    (name) => [name, /^\d{1,10}$/] as const,
  ),
  ['list-type', /^2$/],
  ['encoding-type', /^(?:url)?$/],
  ['fetch-owner', /^(?:true|false)$/],
]);
/** Names that the store gave, which some stores use as names of files. */
const GIVEN = new Set(['uploadId', 'upload-id-marker', 'continuation-token']);
const LONGEST_GIVEN = 4_096;

/** Whether every store reads it as the same, and as no more than a value. Keys are looked at by `KeySpace`. */
function isValue(name: string, value: string): boolean {
  if (isUnreadable(value)) return false;
  if (GIVEN.has(name)) return value.length <= LONGEST_GIVEN && !hasDotSegment(value);
  return WORDS.get(name)?.test(value) ?? true;
}

function decodeParameter(text: string): string {
  return decodeStrictly(text.replaceAll('+', ' '));
}
