// A request of the app as the store may see it: the same operation, below the prefix of the installation.
import {
  childText,
  contentMd5,
  encodeKey,
  encodeStrictly,
  readXml,
  type StoreRequest,
  sha256,
  writeXml,
  type XmlElement,
  XmlError,
} from '@platform/http/s3';
import { APP_BUCKET, decodeStrictly, type KeySpace } from './keys.ts';
import type { Operation } from './operations.ts';
import { type Fields, passingFields, statedHash } from './request-headers.ts';
import { S3Refusal } from './s3-error.ts';

export type Confined = Omit<StoreRequest, 'method'>;

/** Query parameters that name keys or what they begin with. */
const POSITIONS = ['marker', 'start-after', 'key-marker'];
const LISTINGS = new Set<Operation['name']>(['ListObjects', 'ListObjectsV2', 'ListMultipartUploads']);
/** Copying takes time and answers slowly, but has no body. */
const COPIES = new Set<Operation['name']>(['CopyObject', 'UploadPartCopy']);
const MOST_XML_CHARACTERS = 2 * 1024 * 1024;
const MOST_DELETED = 1_000;
const MOST_PARTS = 10_000;

/**
 * @param bucket of the store
 * @param signal fires when nobody waits for it any more
 * @throws S3Refusal, or the reason of `signal`
 */
export async function confine(
  operation: Operation,
  fields: Fields,
  body: Buffer | null,
  { bucket, keys }: { readonly bucket: string; readonly keys: KeySpace },
  signal: AbortSignal,
): Promise<Confined> {
  const headers = passingFields(operation.name, fields);
  const stated = statedHash(fields);
  if (stated !== null && stated !== sha256(body))
    throw new S3Refusal('XAmzContentSHA256Mismatch', 'The body is not what x-amz-content-sha256 says.');
  if (COPIES.has(operation.name)) headers['x-amz-copy-source'] = copySource(fields, { bucket, keys });
  const root = `/${encodeStrictly(bucket)}`;
  const path = operation.key === '' ? root : `${root}/${encodeKey(keys.keyInStore(operation.key))}`;
  const confined = { path, query: queryInStore(operation, keys), headers, body };
  if (operation.name === 'DeleteObjects') return withDocument(confined, await deletions(body, keys, signal));
  if (operation.name === 'CompleteMultipartUpload') return withDocument(confined, await parts(body, signal));
  return confined;
}

function queryInStore({ name, query }: Operation, keys: KeySpace): Record<string, string> {
  const inStore = Object.fromEntries(query);
  if (!LISTINGS.has(name)) return inStore;
  inStore.prefix = keys.partInStore(query.get('prefix') ?? '');
  for (const position of POSITIONS) {
    const at = query.get(position);
    if (at !== undefined && at !== '') inStore[position] = keys.partInStore(at);
  }
  return inStore;
}

/** `/bucket/key` or `bucket/key`, percent-encoded in part or as a whole, as S3 reads it; versions are not offered. */
function copySource(fields: Fields, { bucket, keys }: { readonly bucket: string; readonly keys: KeySpace }): string {
  const encoded = fields.get('x-amz-copy-source') ?? '';
  if (encoded.includes('?')) throw new S3Refusal('AccessDenied', 'Versions are not offered here.');
  const source = decodeStrictly(encoded).replace(/^\//, '');
  const slash = source.indexOf('/');
  if (slash === -1 || source.slice(0, slash) !== APP_BUCKET)
    throw new S3Refusal('AccessDenied', `Only objects of the bucket "${APP_BUCKET}" are copied.`);
  return `/${encodeStrictly(bucket)}/${encodeKey(keys.keyInStore(source.slice(slash + 1)))}`;
}

/** The document changed, so what the client says of its bytes no longer holds. */
function withDocument(confined: Confined, document: XmlElement): Confined {
  const body = Buffer.from(writeXml(document));
  const kept = Object.entries(confined.headers).filter(
    ([name]) => !name.startsWith('x-amz-checksum-') && !name.startsWith('x-amz-sdk-checksum-'),
  );
  return {
    ...confined,
    body,
    headers: { ...Object.fromEntries(kept), 'content-md5': contentMd5(body), 'content-type': 'application/xml' },
  };
}

async function documentOf(
  body: Buffer | null,
  name: string,
  elements: number,
  signal: AbortSignal,
): Promise<XmlElement> {
  const document = await parsed(body, elements, signal);
  if (document.name !== name) throw new S3Refusal('MalformedXML', `The body must be a document <${name}>.`);
  return document;
}

async function parsed(body: Buffer | null, elements: number, signal: AbortSignal): Promise<XmlElement> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body ?? new Uint8Array());
    return await readXml(text, { characters: MOST_XML_CHARACTERS, elements }, signal);
  } catch (error) {
    if (error instanceof XmlError || error instanceof TypeError)
      throw new S3Refusal('MalformedXML', error instanceof XmlError ? error.message : 'The body is not UTF-8.');
    throw error;
  }
}

async function deletions(body: Buffer | null, keys: KeySpace, signal: AbortSignal): Promise<XmlElement> {
  const { children = [] } = await documentOf(body, 'Delete', MOST_DELETED * 3 + 2, signal);
  const objects = children.filter(({ name }) => name === 'Object');
  if (objects.length === 0 || objects.length > MOST_DELETED)
    throw new S3Refusal('MalformedXML', `Name 1 to ${MOST_DELETED} objects.`);
  const stranger = children.find(({ name }) => name !== 'Object' && name !== 'Quiet');
  if (stranger !== undefined) throw new S3Refusal('MalformedXML', `<${stranger.name}> is not expected here.`);
  const quiet = children.find(({ name }) => name === 'Quiet')?.text === 'true';
  return {
    name: 'Delete',
    children: [
      ...(quiet ? [{ name: 'Quiet', text: 'true' }] : []),
      ...objects.map((object) => {
        if (object.children?.length !== 1 || object.children[0]?.name !== 'Key')
          throw new S3Refusal(
            'NotImplemented',
            'Name each object by its key alone: versions and conditions are not offered.',
          );
        return { name: 'Object', children: [{ name: 'Key', text: keys.keyInStore(childText(object, 'Key') ?? '') }] };
      }),
    ],
  };
}

const PART_MEMBERS = /^(?:PartNumber|ETag|Checksum[A-Z0-9]{3,12})$/;

/** It names no object; written anew, so that the store reads only what was read here. */
async function parts(body: Buffer | null, signal: AbortSignal): Promise<XmlElement> {
  const { children = [] } = await documentOf(body, 'CompleteMultipartUpload', MOST_PARTS * 4 + 1, signal);
  const wrong = children.find(
    ({ name, children: members = [] }) => name !== 'Part' || members.some((member) => !PART_MEMBERS.test(member.name)),
  );
  if (wrong !== undefined || children.length > MOST_PARTS)
    throw new S3Refusal('MalformedXML', `Name 1 to ${MOST_PARTS} parts by <PartNumber> and <ETag>.`);
  return { name: 'CompleteMultipartUpload', children };
}
