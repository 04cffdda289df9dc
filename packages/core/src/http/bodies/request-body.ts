// Reads the body of a request as its entry in the route table says, within the limits that hold before it is read.
import {
  limits,
  type RouteId,
  type RouteSpec,
  refuse,
  routes,
  type StreamedMember,
  sizeText,
} from '@platform/contract';
import { hasBody, requireUploadRate } from '@platform/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { whenCallerLeaves } from '../caller-left.ts';
import { heldItems, type StreamedItems } from '../streamed-items.ts';
import type { BodyPlaces, BodySender } from './body-places.ts';
import { type BodyPool, LARGE_BODY } from './body-pool.ts';
import type { LargeBodies } from './large-bodies.ts';
import { type FindSecrets, parseBody } from './parse-body.ts';
import { readJsonBytes, requireJson } from './read-body.ts';

export interface BodyReaders {
  /** Finds key material in the text of a body, for routes that refuse it. */
  readonly findSecrets: FindSecrets;
  /** Parses large bodies. */
  readonly bodies: Pick<BodyPool, 'parse'>;
  /** Takes bodies that are read item by item. */
  readonly largeBodies: Pick<LargeBodies, 'receive'>;
  /** How many may arrive at the same time. */
  readonly places: BodyPlaces;
}

export interface RequestBody {
  /** What the handler gets; `undefined` without a body, and for one that the handler reads itself. */
  readonly value: unknown;
  /** Gives back what the value takes, and the place of a body that the handler did not read to its end. */
  close(): Promise<void>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Whose bodies are counted together: those of a known caller, of a browser, or of a client's network. */
  readonly from: { readonly sender: BodySender; readonly account: string };
}

/** @throws RefusalError `concurrency_limited`, and what the readers refuse */
export async function readRequestBody(exchange: Exchange, id: RouteId, readers: BodyReaders): Promise<RequestBody> {
  const { request, reply, from } = exchange;
  const { body }: RouteSpec = routes[id];
  if (body === undefined) {
    if (hasBody(request.raw)) throw refuse('invalid_request', 'This route takes no body.');
    return held(undefined);
  }
  if ('mediaType' in body) {
    if (body.anyType !== true && (request.headers['content-type'] ?? '').toLowerCase() !== body.mediaType)
      throw refuse('unsupported_media_type', `Send the body as ${body.mediaType}.`);
    if (Number(request.headers['content-length'] ?? 0) > body.limit)
      throw refuse('payload_too_large', `The body may have at most ${sizeText(body.limit)}.`);
    requireUploadRate(request.raw, reply.raw, limits.uploadRate.value);
    const endPlace = await readers.places.hold(request.raw, from.sender);
    return { value: undefined, close: async () => endPlace() };
  }
  if (!hasBody(request.raw)) {
    if (body.schema.safeParse(undefined).success) return held(undefined);
    throw refuse('invalid_request', 'This route needs a JSON body.');
  }
  requireJson(request.raw);
  const arriving = <Read>(read: () => Promise<Read>) => readers.places.read(request.raw, from.sender, read);
  const { streams, limit } = body;
  if (streams !== undefined && !isSmall(request)) {
    const streamed = await readers.largeBodies.receive(request.raw, id, {
      caller: from.sender.name,
      account: from.account,
      limit,
      left: whenCallerLeaves(reply.raw),
      arriving,
    });
    return { value: streamed, close: () => streamed.close() };
  }
  const bytes = await arriving(() => readJsonBytes(request.raw, limit));
  // What may hold key material is small, and stays in this thread.
  const value =
    bytes.length > LARGE_BODY && body.refusesSecrets !== true
      ? await readers.bodies.parse(id, bytes, whenCallerLeaves(reply.raw))
      : parseBody(bytes, body, readers.findSecrets);
  return held(streams === undefined ? value : itemsOf(value, streams));
}

function held(value: unknown): RequestBody {
  return { value, close: async () => undefined };
}

/** Whether it says that it is so small that it is held while it is parsed. */
function isSmall({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= LARGE_BODY;
}

function itemsOf(value: unknown, { member, key }: StreamedMember): StreamedItems<unknown> {
  // As the schema of the body made them.
  const items = (value as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>)[member] ?? [];
  return heldItems(items, (item) => String(item[key]));
}
