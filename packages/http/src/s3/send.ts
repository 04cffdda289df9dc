// Sends a request to the store, signed, and reads what it answers.
import { createHash } from 'node:crypto';
import { Pile } from '@platform/contract/pile';
import type { Dispatcher } from 'undici';
import { gatherPieces } from '../gather.ts';
import { encodeStrictly } from './names.ts';
import { type StoreCredentials, sign } from './sign.ts';

export interface StorePlace {
  /** Host included that the bucket may be part of. */
  readonly origin: URL;
  readonly region: string;
  readonly bucket: string;
  readonly pathStyle: boolean;
  readonly credentials: StoreCredentials;
  readonly pool: Dispatcher;
}

export interface StoreRequest {
  readonly method: string;
  /** Encoded, and with the bucket, also where the host names it. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** With the bucket before the host where it stands there. */
export function storeOrigin(store: {
  readonly endpoint: string;
  readonly bucket: string;
  readonly pathStyle: boolean;
}): URL {
  const origin = new URL(store.endpoint);
  if (!store.pathStyle) origin.hostname = `${store.bucket}.${origin.hostname}`;
  return origin;
}

/** Hexadecimal; of nothing for a request without a body. */
export function sha256(body: Buffer | null): string {
  return createHash('sha256')
    .update(body ?? '')
    .digest('hex');
}

/** What S3 demands of a deletion of many objects. */
export function contentMd5(body: Buffer): string {
  return createHash('md5').update(body).digest('base64');
}

/** @param limits `milliseconds` to the head of the answer, and between two pieces of it */
export async function sendToStore(
  { origin, region, credentials, pool, pathStyle, bucket }: StorePlace,
  { method, path: named, query, headers: stated, body }: StoreRequest,
  { signal, milliseconds }: { readonly signal: AbortSignal; readonly milliseconds: number },
): Promise<Dispatcher.ResponseData> {
  const path = pathStyle ? named : named.slice(`/${encodeStrictly(bucket)}`.length) || '/';
  const unsigned = { ...stated, host: origin.host, 'x-amz-content-sha256': sha256(body) };
  const headers = await sign({ method, path, query, headers: unsigned }, { credentials, region, origin });
  const pairs = Object.entries(query).map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`);
  const answer = await pool.request({
    method: method as Dispatcher.HttpMethod,
    path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
    headers,
    body,
    signal,
    headersTimeout: milliseconds,
    bodyTimeout: milliseconds,
  });
  gatherPieces(answer.body);
  return answer;
}

export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
  readonly code = 'ANSWER_TOO_LARGE';
}

/** @throws AnswerTooLargeError beyond `most` bytes */
export async function storeText(answer: Dispatcher.ResponseData, most: number): Promise<string> {
  return (await storeBytes(answer, most)).toString('utf8');
}

/** @throws AnswerTooLargeError beyond `most` bytes */
export async function storeBytes({ body }: Dispatcher.ResponseData, most: number): Promise<Buffer> {
  const pile = new Pile();
  for await (const chunk of body) {
    if (pile.length + chunk.length > most) throw new AnswerTooLargeError('the store answered with too much');
    pile.add(chunk);
  }
  return pile.take();
}
