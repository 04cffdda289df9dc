// Raw object storage (specification 4.5, contract 4c): the API of S3 below a prefix of the installation's own. Every
// request is read, confined and signed anew; the key of the store stays here.

import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { limits, objectStorageView, type RequestTarget, sizeText } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import { endFaulty, hold, type IncomingRequest, openPace, type RequestHead, receiveBody } from '@platform/http';
import { readXml, sendToStore, storeText, UnconfinedError, writeXml, type XmlElement } from '@platform/http/s3';
import type { Dispatcher } from 'undici';
import { CoreRefusal } from '../core-calls.ts';
import { openRate } from '../rate.ts';
import { openRooms, type Room } from '../room.ts';
import type { GatewayService, ServiceContext } from '../service.ts';
import { codeForLog, documentInApp, errorInApp, passingAnswer } from './answers.ts';
import { confine } from './confine.ts';
import { type Operation, operationOf } from './operations.ts';
import { fieldsOf, passingFields, refuseStreaming } from './request-headers.ts';
import { S3Refusal, sendErrorDocument, sendRefusal, sendS3Error } from './s3-error.ts';
import { openStoreAccess, type Store } from './store.ts';
import { openTurns, type Turns } from './turns.ts';

const TOKEN_FIELD = 'x-amz-security-token';
const { value: MOST_BODIES } = limits.objectStorageBodies;
/** Answers that are read and written anew. */
const MOST_DOCUMENTS = 4;
const { value: LARGEST_BODY } = limits.objectStorageBody;
/** For a whole body. */
const BODY_MS = 120_000;
/** To the head of an answer: a store that puts a large object together takes its time. */
const STORE_MS = 120_000;
const { value: PER_MINUTE } = limits.objectStorageRate;
const RATE = { perMinute: PER_MINUTE, burst: PER_MINUTE };
const ANSWER_LIMITS = { characters: 8 * 1024 * 1024, elements: 32_000 };
const LARGEST_ERROR = 64 * 1024;

const BODY_AS_IS = new Set<Operation['name']>(['GetObject']);
const WITHOUT_BODY = new Set<Operation['name']>([
  ...(['PutObject', 'UploadPart', 'DeleteObject', 'AbortMultipartUpload', 'HeadObject'] as const),
]);

/** The platform's own trouble with the store: for the operator's log, and nothing that the app could mend. */
class StoreTrouble extends Error {
  override readonly name = 'StoreTrouble';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Targets of this front: keys hold what paths elsewhere do not, such as encoded slashes and backslashes. What is no key is
 * refused with a document of S3, by `operationOf` and `KeySpace`.
 */
export function readObjectTarget(target: string): RequestTarget {
  if (!/^\/[!-~]*$/.test(target) || target.includes('#')) return { ok: false };
  const mark = target.indexOf('?');
  return mark === -1
    ? { ok: true, path: target, query: '' }
    : { ok: true, path: target.slice(0, mark), query: target.slice(mark) };
}

export function objectStorageService(context: ServiceContext): GatewayService {
  const access = openStoreAccess(context);
  const running = new Set<AbortController>();
  const documents = openTurns(MOST_DOCUMENTS);
  const rooms = openRooms(MOST_BODIES * LARGEST_BODY, context.memory);
  const rate = openRate(context.policy.objectStorageRate ?? RATE);
  const pace = openPace(() => performance.now());
  let bodies = 0;
  let isGranted = context.policy.objectStorage === true;

  async function serve(incoming: IncomingRequest, signal: AbortSignal): Promise<void> {
    const { req, res, path, query, head } = incoming;
    const fields = fieldsOf(req.rawHeaders);
    refuseStreaming(fields);
    const operation = operationOf(req.method ?? '', path, query, fields.has('x-amz-copy-source'));
    if (!isGranted) throw new S3Refusal('AccessDenied', 'Object storage is not granted to this app any more.');
    const store = await access.current();
    signal.throwIfAborted();
    if (operation.name === 'HeadBucket' || operation.name === 'GetBucketLocation')
      passingFields(operation.name, fields);
    if (operation.name === 'HeadBucket') {
      res.writeHead(200, { 'content-length': 0, 'x-amz-bucket-region': objectStorageView.region }).end();
      return;
    }
    if (operation.name === 'GetBucketLocation') {
      // The region that needs no name (Amazon S3 API Reference, "GetBucketLocation").
      sendDocument(incoming, {}, { name: 'LocationConstraint', text: '' });
      return;
    }
    await withPlace(operation, async (room) => {
      const body = operation.body ? await bodyOf(incoming, room) : null;
      const confined = await confine(operation, fields, body, store, signal);
      signal.throwIfAborted();
      const request = { ...confined, method: req.method ?? '' };
      const answer = await sendToStore(store, request, { signal, milliseconds: STORE_MS });
      await pass(answer, { incoming, operation, store, documents, signal, origin: `http://${head.host}` });
    });
  }

  /** Few bodies are held at a time. */
  async function withPlace(operation: Operation, work: (room: Room) => Promise<void>): Promise<void> {
    const room = rooms.open();
    if (!operation.body) return work(room);
    if (bodies >= MOST_BODIES)
      throw new S3Refusal(
        'SlowDown',
        `At most ${MOST_BODIES} requests with a body are handled at a time. Send it again.`,
      );
    bodies += 1;
    try {
      await work(room);
    } finally {
      room.free();
      bodies -= 1;
    }
  }

  function fail({ req, res, path }: IncomingRequest, error: unknown, signal: AbortSignal): void {
    if (error instanceof S3Refusal) {
      // Who goes on at once would otherwise send its bodies for nothing, at full speed.
      const held = hold(error.code === 'SlowDown' ? pace.next() : 0, () => sendS3Error(res, error.code, error.message));
      if (held !== null) res.once('close', held.abandon);
      return;
    }
    if (error instanceof CoreRefusal) {
      sendRefusal(res, error.refusal);
      return;
    }
    // The caller left, or the grant is gone; a caller that is still there reads why.
    if (signal.aborted) {
      if (res.headersSent) res.destroy();
      else sendS3Error(res, 'AccessDenied', 'Object storage is not granted to this app any more.');
      return;
    }
    const requestId = res.headersSent
      ? null
      : sendS3Error(res, 'ServiceUnavailable', 'The store could not be used. Send the request again.');
    if (requestId === null) res.destroy();
    const reason = error instanceof StoreTrouble ? error.reason : reasonOf(error);
    const method = req.method ?? '';
    context.onFailure({ upstream: 'object-store', code: 'upstream_failed', method, path, requestId, reason });
  }

  return {
    prefixes: ['/'],
    presented: tokenOf,
    refuse: sendRefusal,
    handle(incoming) {
      incoming.res.setHeader('x-request-id', randomUUID());
      const retryAfter = rate.take();
      if (retryAfter !== null)
        return hold(pace.next(), () => void sendRefusal(incoming.res, { code: 'rate_limited', retryAfter }));
      const work = new AbortController();
      running.add(work);
      serve(incoming, work.signal)
        .catch((error: unknown) => fail(incoming, error, work.signal))
        .catch((error: unknown) => {
          endFaulty(incoming.res);
          context.onFault(error);
        })
        .finally(() => running.delete(work));
      return { abandon: () => work.abort() };
    },
    async apply(policy) {
      isGranted = policy.objectStorage === true;
      rate.change(policy.objectStorageRate ?? RATE);
      access.forget();
      if (!isGranted) for (const work of running) work.abort();
    },
    async close() {
      for (const work of running) work.abort();
      await access.close();
    },
  };
}

/** The session token, where it stands once: it is what counts, not the signature. */
function tokenOf({ forwarded }: RequestHead): string | null {
  const tokens = forwarded.filter((_, index) => index % 2 === 1 && forwarded[index - 1]?.toLowerCase() === TOKEN_FIELD);
  return tokens.length === 1 ? (tokens[0] ?? null) : null;
}

/** The whole body, in one buffer of its size where that is known. @throws S3Refusal */
async function bodyOf({ req, res, head, expectsContinue }: IncomingRequest, room: Room): Promise<Buffer> {
  const length = head.chunked ? null : (head.contentLength ?? 0);
  const tooLarge = `A body has at most ${sizeText(LARGEST_BODY)}: upload larger objects in parts.`;
  if (length !== null && length > LARGEST_BODY) throw new S3Refusal('EntityTooLarge', tooLarge);
  if (length === 0) return Buffer.alloc(0);
  const noRoom = (): S3Refusal => new S3Refusal('SlowDown', 'Too many large bodies are under way. Send it again.');
  if (length !== null && !room.take(length)) throw noRoom();
  if (expectsContinue) res.writeContinue();
  const whole = length === null ? null : Buffer.allocUnsafeSlow(length);
  const pile = new Pile();
  let size = 0;
  try {
    await receiveBody(req, { limit: LARGEST_BODY, milliseconds: BODY_MS }, (chunk) => {
      if (whole === null && !room.take(chunk.length)) return Promise.reject(noRoom());
      if (whole === null) pile.add(chunk);
      else chunk.copy(whole, size);
      size += chunk.length;
      return undefined;
    });
  } catch (error) {
    if (error instanceof S3Refusal) throw error;
    if (size + 1 > LARGEST_BODY || isTooLarge(error)) throw new S3Refusal('EntityTooLarge', tooLarge);
    throw new S3Refusal('RequestTimeout', 'The body did not arrive.');
  }
  return whole ?? pile.take();
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('payload_too_large');
}

interface Passing {
  readonly incoming: IncomingRequest;
  readonly operation: Operation;
  readonly store: Store;
  readonly documents: Turns;
  readonly signal: AbortSignal;
  /** Where the app reaches this service. */
  readonly origin: string;
}

async function pass(answer: Dispatcher.ResponseData, passing: Passing): Promise<void> {
  const { statusCode: status, headers, body } = answer;
  const { incoming, operation } = passing;
  const { res } = incoming;
  const length = headers['content-length'];
  const measured = typeof length === 'string' ? { 'content-length': length } : {};
  if (status >= 400 && operation.name !== 'HeadObject') {
    await passError(answer, passing);
    return;
  }
  if (status < 200 || (status >= 300 && status < 400 && status !== 304)) {
    await body.dump();
    throw new StoreTrouble(`STATUS_${status}`);
  }
  if (status === 304 || WITHOUT_BODY.has(operation.name)) {
    await body.dump();
    res.writeHead(status, { ...passingAnswer(headers), ...(operation.name === 'HeadObject' ? measured : {}) }).end();
    return;
  }
  if (BODY_AS_IS.has(operation.name)) {
    res.writeHead(status, { ...passingAnswer(headers), ...measured });
    await pipeline(body, res);
    return;
  }
  await passing.documents.run(res, passing.signal, async () => {
    const text = await storeText(answer, ANSWER_LIMITS.characters);
    const document = await readXml(text, ANSWER_LIMITS, passing.signal);
    // Putting a large object together begins with 200 and may end with an error.
    if (document.name === 'Error') sendErrorOf(document, { ...passing, status: 500 });
    else sendDocument(incoming, passingAnswer(headers), documentInApp(document, passing.store.keys, passing.origin));
  });
}

async function passError(answer: Dispatcher.ResponseData, passing: Passing): Promise<void> {
  const text = await storeText(answer, LARGEST_ERROR);
  const document = await readXml(text, { characters: LARGEST_ERROR, elements: 200 }, passing.signal);
  sendErrorOf(document, { ...passing, status: answer.statusCode });
}

function sendErrorOf(document: XmlElement, { incoming, store, status }: Passing & { readonly status: number }): void {
  const error = errorInApp(document, store);
  if (error === null) throw new StoreTrouble(codeForLog(document));
  sendErrorDocument(incoming.res, status, error);
}

function sendDocument({ res }: IncomingRequest, fields: Record<string, string | string[]>, document: XmlElement): void {
  const body = Buffer.from(writeXml(document));
  res.writeHead(200, { ...fields, 'content-type': 'application/xml', 'content-length': body.length }).end(body);
}

function reasonOf(error: unknown): string {
  if (error instanceof UnconfinedError) return 'UNCONFINED';
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
