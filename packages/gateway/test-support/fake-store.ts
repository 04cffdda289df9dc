// A fake of an S3 server, in this process: buckets in memory, path style, one page of a listing at a time. Unlike most
// fakes it verifies what the Gateway is trusted with: signature (by an implementation of its own), token and payload hash.
// It records every request, so that a test can say what never arrived.
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoreCredentials } from '@platform/http/s3';

export const STORE_CREDENTIALS = { accessKeyId: 'AKFAKE', secretAccessKey: 'canary-store-secret', sessionToken: 'tok' };
export const REGION = 'eu-test-1';

export interface SeenRequest {
  readonly method: string;
  /** Decoded. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface FakeStore {
  readonly origin: string;
  readonly seen: SeenRequest[];
  /** By `/bucket/key`. */
  readonly objects: Map<string, Buffer>;
  /** What a request must be signed with. */
  credentials: Required<StoreCredentials>;
  /** Answers the next request in its place. */
  next: ((req: IncomingMessage, res: ServerResponse) => void) | null;
  close(): Promise<void>;
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const strictly = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
const text = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Amazon S3 API Reference, "Signature Calculations for the Authorization Header". */
function isSigned(req: IncomingMessage, body: Buffer, credentials: Required<StoreCredentials>): boolean {
  const { authorization = '', host = '', 'x-amz-date': date, 'x-amz-content-sha256': hash } = req.headers;
  const [, id, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(authorization) ??
    [];
  if (signature === undefined || typeof date !== 'string' || hash !== sha256(body)) return false;
  if (id !== credentials.accessKeyId || req.headers['x-amz-security-token'] !== credentials.sessionToken) return false;
  const [path = '', query = ''] = (req.url ?? '').split('?');
  const pairs = query === '' ? [] : query.split('&').map((pair) => (pair.includes('=') ? pair : `${pair}=`));
  const headers = names
    .split(';')
    .map((name) => `${name}:${String(name === 'host' ? host : req.headers[name]).trim()}\n`);
  const canonical = [req.method, path, pairs.sort().join('&'), headers.join(''), names, hash].join('\n');
  const [day = '', region = '', service = '', end = ''] = scope.split('/');
  if (region !== REGION || service !== 's3' || end !== 'aws4_request') return false;
  const everyAmz = Object.keys(req.headers).filter((name) => name.startsWith('x-amz-'));
  if (!everyAmz.every((name) => names.split(';').includes(name))) return false;
  let key: Buffer = hmac(`AWS4${credentials.secretAccessKey}`, day);
  for (const part of [region, service, end]) key = hmac(key, part);
  return hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex') === signature;
}

function send(res: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/xml', 'x-amz-request-id': 'of-the-store', ...headers });
  res.end(body);
}

function fail(res: ServerResponse, status: number, code: string, more = ''): void {
  send(res, status, `<?xml version="1.0"?><Error><Code>${code}</Code><Message>It is ${code}.</Message>${more}</Error>`);
}

export async function startFakeStore(bucket: string): Promise<FakeStore> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const seen: SeenRequest[] = [];
  const store = {
    seen,
    objects,
    credentials: STORE_CREDENTIALS as FakeStore['credentials'],
    next: null as FakeStore['next'],
  };

  function list(query: ReadonlyMap<string, string>, res: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter') ?? '';
    const most = Math.min(Number(query.get('max-keys') ?? 1_000), 1_000);
    const token = query.get('continuation-token');
    const after =
      token === undefined
        ? (query.get('start-after') ?? query.get('marker') ?? '')
        : Buffer.from(token, 'base64').toString();
    const encode = (name: string) =>
      query.get('encoding-type') === 'url' ? strictly(name).replaceAll('%2F', '/') : text(name);
    const names = [...objects.keys()]
      .map((one) => one.slice(bucket.length + 2))
      .filter((one) => one.startsWith(prefix) && one > after);
    const entries: { name: string; common: boolean }[] = [];
    for (const name of names.sort()) {
      const at = delimiter === '' ? -1 : name.indexOf(delimiter, prefix.length);
      const shown = at === -1 ? name : name.slice(0, at + delimiter.length);
      if (entries.at(-1)?.name !== shown) entries.push({ name: shown, common: at !== -1 });
    }
    const page = entries.slice(0, most);
    const last = page.at(-1)?.name ?? '';
    const more = entries.length > most;
    const body = page.map(({ name, common }) =>
      common
        ? `<CommonPrefixes><Prefix>${encode(name)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${encode(name)}</Key><Size>1</Size><Owner><ID>the-operator</ID></Owner></Contents>`,
    );
    const echo = ['marker', 'start-after'].map(
      (one) => [one === 'marker' ? 'Marker' : 'StartAfter', query.get(one)] as const,
    );
    const v2 = query.get('list-type') === '2';
    send(
      res,
      200,
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><Prefix>${encode(prefix)}</Prefix>${echo.map(([name, value]) => (value === undefined ? '' : `<${name}>${encode(value)}</${name}>`)).join('')}${query.has('encoding-type') ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${more}</IsTruncated>${more ? (v2 ? `<NextContinuationToken>${Buffer.from(last).toString('base64')}</NextContinuationToken>` : `<NextMarker>${encode(last)}</NextMarker>`) : ''}${body.join('')}</ListBucketResult>`,
    );
  }

  function answer({ method, path, query, headers, body }: SeenRequest, res: ServerResponse): unknown {
    const name = `/${bucket}`;
    if (path === name || path === `${name}/`) {
      if (method === 'GET') list(query, res);
      else {
        const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) =>
          key.replaceAll('&amp;', '&'),
        );
        for (const key of keys) objects.delete(`${name}/${key}`);
        send(
          res,
          200,
          `<DeleteResult>${keys.map((key) => `<Deleted><Key>${text(key)}</Key></Deleted>`).join('')}</DeleteResult>`,
        );
      }
      return null;
    }
    const key = path.slice(name.length + 1);
    const id = query.get('uploadId');
    const source = headers['x-amz-copy-source'];
    const from = typeof source === 'string' ? objects.get(decodeURIComponent(source)) : undefined;
    if (typeof source === 'string' && from === undefined)
      return fail(res, 404, 'NoSuchKey', `<Key>${text(decodeURIComponent(source).slice(name.length + 1))}</Key>`);
    if (method === 'POST' && query.has('uploads')) {
      uploads.set('upload-1', new Map());
      return send(
        res,
        200,
        `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${text(key)}</Key><UploadId>upload-1</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (id !== undefined) {
      const parts = uploads.get(id);
      if (parts === undefined) return fail(res, 404, 'NoSuchUpload');
      if (method === 'PUT') {
        parts.set(Number(query.get('partNumber')), from ?? body);
        return from === undefined
          ? send(res, 200, '', { etag: '"part"' })
          : send(res, 200, '<CopyPartResult><ETag>"part"</ETag></CopyPartResult>');
      }
      if (method === 'GET')
        return send(
          res,
          200,
          `<ListPartsResult><Bucket>${bucket}</Bucket><Key>${text(key)}</Key><Initiator><ID>the-operator</ID></Initiator>${[...parts.keys()].map((part) => `<Part><PartNumber>${part}</PartNumber></Part>`).join('')}</ListPartsResult>`,
        );
      uploads.delete(id);
      if (method === 'DELETE') return send(res, 204, '');
      objects.set(path, Buffer.concat([...parts].sort(([one], [other]) => one - other).map(([, part]) => part)));
      return send(
        res,
        200,
        `<CompleteMultipartUploadResult><Location>http://store/${bucket}/${text(key)}</Location><Bucket>${bucket}</Bucket><Key>${text(key)}</Key><ETag>"whole"</ETag></CompleteMultipartUploadResult>`,
      );
    }
    if (method === 'PUT') {
      objects.set(path, from ?? body);
      return from === undefined
        ? send(res, 200, '', { etag: '"one"' })
        : send(res, 200, '<CopyObjectResult><ETag>"one"</ETag></CopyObjectResult>');
    }
    if (method === 'DELETE') {
      objects.delete(path);
      return send(res, 204, '');
    }
    const object = objects.get(path);
    if (object === undefined)
      return method === 'HEAD'
        ? void res.writeHead(404).end()
        : fail(res, 404, 'NoSuchKey', `<Key>${text(key)}</Key><Resource>${text(path)}</Resource>`);
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
    const part = range === null ? object : object.subarray(Number(range[1]), Number(range[2]) + 1);
    res.writeHead(range === null ? 200 : 206, {
      ...{ 'content-length': part.length, 'content-type': 'image/png', etag: '"one"', 'x-amz-meta-colour': 'blue' },
      ...{ 'x-amz-id-2': 'host-of-the-store', 'set-cookie': 'a=b' },
      ...(range === null ? {} : { 'content-range': `bytes ${range[1]}-${range[2]}/${object.length}` }),
    });
    res.end(method === 'HEAD' ? undefined : part);
  }

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(req.url ?? '', 'http://store');
    const path = decodeURIComponent((req.url ?? '').split('?')[0] ?? '');
    const request: SeenRequest = {
      method: req.method ?? '',
      path,
      query: new Map(url.searchParams),
      headers: req.headers,
      body,
    };
    seen.push(request);
    const instead = store.next;
    store.next = null;
    if (instead !== null) instead(req, res);
    else if (isSigned(req, body, store.credentials)) answer(request, res);
    else fail(res, 403, 'SignatureDoesNotMatch', `<AWSAccessKeyId>${store.credentials.accessKeyId}</AWSAccessKeyId>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(store, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.closeAllConnections();
      server.close();
      await closed;
    },
  });
}
