// Answers with the bytes of an item or a file, as the conditions of the request have it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CoreContext } from '../context.ts';
import { openBody } from './bodies/bodies.ts';
import { conditionsOf, preconditionFailed, readingOf } from './items/conditions.ts';

export interface KeptBytes {
  readonly etag: string;
  readonly size: number;
  readonly bodyId: string;
  readonly type: string;
}

/** @throws RefusalError `precondition_failed` */
export function sendBytes(
  { database }: Pick<CoreContext, 'database'>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { etag, size, bodyId, type }: KeptBytes,
): void {
  const reading = readingOf(conditionsOf(request.headers), etag);
  if (reading === 'failed') throw preconditionFailed();
  reply.header('etag', etag).header('cache-control', 'no-store');
  if (reading === 'same') {
    reply.code(304).send();
    return;
  }
  reply.code(200).type(type).header('content-length', size);
  if (request.method === 'HEAD') reply.send();
  else reply.send(openBody(database, { id: bodyId, size }));
}
