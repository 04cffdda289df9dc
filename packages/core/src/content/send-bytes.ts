// Answers with the bytes of an item or a file, as the conditions of the request have it.
import { refuse } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { openBody, type ReadContext } from './bodies/bodies.ts';
import { conditionsOf, preconditionFailed, readingOf } from './items/conditions.ts';

export interface KeptBytes {
  readonly etag: string;
  readonly size: number;
  readonly bodyId: string;
  readonly type: string;
}

/** Each time something took the place of what was found, which few do in a row. */
const ATTEMPTS = 10;

/**
 * What is answered is one version from its first byte to its last.
 *
 * @param find the version that there is now
 * @throws RefusalError `precondition_failed`, and what `find` throws
 */
export async function sendBytes(
  context: ReadContext,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  find: () => Promise<KeptBytes>,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { etag, size, bodyId, type } = await find();
    const reading = readingOf(conditionsOf(request.headers), etag);
    if (reading === 'failed') throw preconditionFailed();
    const isSame = reading === 'same';
    const without = isSame || request.method === 'HEAD';
    const bytes = without ? undefined : await openBody(context, { id: bodyId, size });
    if (!without && bytes === undefined) continue;
    reply.header('etag', etag).header('cache-control', 'no-store');
    if (isSame) reply.code(304);
    else reply.code(200).type(type).header('content-length', size);
    reply.send(bytes);
    return;
  }
  throw refuse('unavailable', 'It changes faster than it can be read. Try again.');
}
