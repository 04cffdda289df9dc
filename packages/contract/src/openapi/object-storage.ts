// Raw object storage: the operations of S3 that a workload has. Several of S3's share a method and a path and differ by their
// query; OpenAPI has one operation for them, with the parameters of all.
import type { Json } from './json.ts';
import { inPath } from './passing.ts';
import { SERVERS } from './places.ts';

type Method = 'get' | 'put' | 'post' | 'delete';

interface Shared {
  /** As the Amazon S3 API Reference names them. */
  readonly operations: readonly string[];
  readonly query: readonly string[];
  readonly success: readonly number[];
  readonly body?: true;
}

const LISTING = ['prefix', 'delimiter', 'encoding-type'];
const OVERRIDES = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-type'];

const BUCKET: Partial<Record<Method, Shared>> = {
  get: {
    operations: ['ListObjectsV2', 'ListObjects', 'ListMultipartUploads', 'GetBucketLocation'],
    query: [
      ...LISTING,
      ...['list-type', 'max-keys', 'continuation-token', 'start-after', 'fetch-owner', 'marker'],
      ...['uploads', 'key-marker', 'upload-id-marker', 'max-uploads', 'location'],
    ],
    success: [200],
  },
  post: { operations: ['DeleteObjects'], query: ['delete'], success: [200], body: true },
};

const OBJECT: Partial<Record<Method, Shared>> = {
  get: {
    operations: ['GetObject', 'ListParts'],
    query: [
      ...['partNumber', 'response-expires', ...OVERRIDES.map((name) => `response-${name}`)],
      ...['uploadId', 'max-parts', 'part-number-marker', 'encoding-type'],
    ],
    success: [200, 206, 304],
  },
  put: {
    operations: ['PutObject', 'CopyObject', 'UploadPart', 'UploadPartCopy'],
    query: ['partNumber', 'uploadId'],
    success: [200],
    body: true,
  },
  post: {
    operations: ['CreateMultipartUpload', 'CompleteMultipartUpload'],
    query: ['uploads', 'uploadId'],
    success: [200],
    body: true,
  },
  delete: { operations: ['DeleteObject', 'AbortMultipartUpload'], query: ['uploadId'], success: [204] },
};

/** Of the error document; other statuses are the store's, in the same form. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'InvalidRequest, InvalidArgument, EntityTooLarge, KeyTooLongError, BadDigest, MalformedXML and the like.',
  403: 'AccessDenied: the token, the grant, the plan, or an operation that is not offered.',
  404: 'NoSuchKey, NoSuchUpload.',
  412: 'PreconditionFailed.',
  503: 'SlowDown, ServiceUnavailable: try again after `Retry-After`.',
};

const text = { type: 'string' };
const errorDocument: Json = {
  type: 'object',
  xml: { name: 'Error' },
  required: ['Code', 'Message', 'RequestId'],
  properties: { Code: text, Message: text, Key: text, RequestId: text },
};

const KEY = {
  ...inPath('key', 'Of an object, at most 900 bytes. Send its slashes as they are.'),
  'x-segments': 'any',
};

function operation(id: string, of: 'bucket' | 'object', { operations, query, success, body }: Shared): Json {
  const refusal = (description: string): Json => ({
    description,
    content: { 'application/xml': { schema: errorDocument } },
  });
  const answered = success.map((status) => [status, { description: 'As S3 answers.', content: { '*/*': {} } }]);
  const refused = Object.entries(REFUSED).map(([status, description]) => [status, refusal(description)]);
  return {
    operationId: id,
    summary: `${operations.join(', ')} of S3, in the app’s own view of the store (grant \`object-storage.raw\`)`,
    tags: ['objectStorage'],
    servers: [SERVERS.objectStorage],
    parameters: [
      ...(of === 'object' ? [KEY] : []),
      ...query.map((name) => ({ name, in: 'query', required: false, allowEmptyValue: true, schema: text })),
    ],
    ...(body === undefined ? {} : { requestBody: { required: false, content: { '*/*': {} } } }),
    responses: {
      ...Object.fromEntries([...answered, ...refused]),
      default: refusal('As the store answers.'),
    },
    security: [{ storageToken: [] }],
    'x-operations': operations,
  };
}

const pathItem = (of: 'bucket' | 'object', table: Partial<Record<Method, Shared>>): Json =>
  Object.fromEntries(
    Object.entries(table).map(([method, shared]) => [method, operation(`objectStorage.${of}.${method}`, of, shared)]),
  );

/** By path. */
export function objectStoragePaths(): Readonly<Record<string, Json>> {
  return { '/app': pathItem('bucket', BUCKET), '/app/{key}': pathItem('object', OBJECT) };
}
