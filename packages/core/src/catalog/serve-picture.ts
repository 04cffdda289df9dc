// Serves a picture of an app: untrusted bytes on the shell's own origin, so only images of pixels pass, which run nothing and
// are shown in no time. Of an icon that is an SVG its drawing is served, never the SVG.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import * as path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limits, refuse } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemCode } from '../config/start-error.ts';
import type { CoreContext } from '../context.ts';
import type { DrawnIcons } from './icons/drawn-icon.ts';
import { faultOfParts } from './packages/image-parts.ts';
import { IMAGE_HEAD_BYTES, type ImageType, imageType } from './packages/image-type.ts';
import { readFrom } from './packages/read-bytes.ts';
import type { AppVersion } from './queries.ts';

/** An icon that was drawn may be larger than one that is published. */
const LARGEST_BYTES = 2 * Math.max(limits.iconSize.value, limits.screenshotSize.value);

type Picture = Pick<AppVersion, 'packageHash'> & {
  /** Of a file below `frontend/`, as the manifest has it; `undefined` when it names none. */
  readonly name: string | undefined;
};

/**
 * Streams a picture of this version into the reply.
 *
 * @throws RefusalError `not_found` when there is no such picture, `unavailable` when its package is damaged
 */
export async function servePicture(
  { frontends }: Pick<CoreContext, 'frontends'>,
  { packageHash, name }: Picture,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (name === undefined) throw refuse('not_found');
  const file = await openPicture(path.join(await frontends.folder(packageHash), name));
  try {
    await stream(file, `${packageHash}/${name}`, request, reply);
  } finally {
    await file.close();
  }
}

/** The same for its icon. */
export async function serveIcon(
  context: Pick<CoreContext, 'frontends'>,
  drawn: DrawnIcons,
  picture: Picture,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { packageHash, name } = picture;
  if (name === undefined) throw refuse('not_found');
  const original = await openPicture(path.join(await context.frontends.folder(packageHash), name));
  const type = await typeOf(original).finally(() => original.close());
  if (type !== 'image/svg+xml') return servePicture(context, picture, request, reply);
  const drawing = await drawn.fileOf(packageHash, name).catch(notFoundIfGone);
  if (drawing === null) throw refuse('not_found');
  const file = await openPicture(drawing);
  try {
    await stream(file, `${packageHash}/${name}/drawn`, request, reply);
  } finally {
    await file.close();
  }
}

async function typeOf(file: FileHandle): Promise<ImageType | null> {
  return imageType(await readFrom(file, IMAGE_HEAD_BYTES));
}

/** @param identity other for other bytes */
async function stream(file: FileHandle, identity: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const type = await typeOf(file);
  if (type === null || type === 'image/svg+xml') throw refuse('not_found');
  const { size } = await file.stat();
  // Another one than was given when more was let through: who holds it has what passed here.
  const etag = `"${createHash('sha256').update(`${identity}/drawn once`).digest('hex').slice(0, 32)}"`;
  const isHeld = request.headers['if-none-match'] === etag;
  // Also what was published then.
  const isRefused = !isHeld && (size > LARGEST_BYTES || faultOfParts(await readFrom(file, size)) !== null);
  if (isRefused) throw refuse('not_found');
  reply.hijack();
  const response = reply.raw;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.setHeader('etag', etag);
  response.setHeader('cache-control', 'private, max-age=300');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('content-security-policy', "default-src 'none'; sandbox");
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  // Opened by its address it is saved: nothing of a publisher is a page of the shell's host.
  response.setHeader('content-disposition', `attachment; filename="picture.${type.slice('image/'.length)}"`);
  if (isHeld) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, { 'content-type': type, 'content-length': size });
  await pipeline(file.createReadStream({ start: 0, autoClose: false }), response);
}

async function openPicture(file: string): Promise<FileHandle> {
  return open(file, 'r').catch(notFoundIfGone);
}

function notFoundIfGone(error: unknown): never {
  if (systemCode(error) === 'ENOENT') throw refuse('not_found');
  throw error;
}
