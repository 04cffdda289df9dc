// Serves a picture of an app: untrusted bytes on the shell's own origin, so only images pass, which run nothing and are
// drawn in no time.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import * as path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { refuse } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemCode } from '../config/start-error.ts';
import { frontendFolder, type StoreContext } from './package-file.ts';
import { IMAGE_HEAD_BYTES, imageType } from './packages/image-type.ts';
import { isCheapSvg } from './packages/svg-cost.ts';
import type { AppVersion } from './queries.ts';

/**
 * Streams a picture of this version into the reply.
 *
 * @param name of a file below `frontend/`, as the manifest has it; `undefined` when it names none
 * @throws RefusalError `not_found` when there is no such picture
 */
export async function servePicture(
  context: StoreContext,
  { packageHash, name }: Pick<AppVersion, 'packageHash'> & { readonly name: string | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (name === undefined) throw refuse('not_found');
  const etag = `"${createHash('sha256').update(`${packageHash}/${name}`).digest('hex').slice(0, 32)}"`;
  const file = await openPicture(path.join(frontendFolder(context, packageHash), name));
  try {
    const head = Buffer.alloc(IMAGE_HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const type = imageType(head.subarray(0, bytesRead));
    if (type === null) throw refuse('not_found');
    const { size } = await file.stat();
    // Also what was published when more was let through.
    if (type === 'image/svg+xml' && !isCheapSvg(await file.readFile('utf8'))) throw refuse('not_found');
    reply.hijack();
    const response = reply.raw;
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) response.setHeader(name, value);
    response.setHeader('etag', etag);
    response.setHeader('cache-control', 'private, max-age=300');
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    response.setHeader('cross-origin-resource-policy', 'same-origin');
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, { 'content-type': type, 'content-length': size });
    await pipeline(file.createReadStream({ start: 0, autoClose: false }), response);
  } finally {
    await file.close();
  }
}

async function openPicture(file: string) {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw refuse('not_found');
    throw error;
  }
}
