// The backend of Photo Box: passes photos between its page and object storage, and never holds a whole one.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { NoSuchKey, S3ServiceException } from '@aws-sdk/client-s3';
import { PhotoStore } from './photo-store.mjs';
import { PlatformServicesClient } from './platform-sdk.mjs';

// Null until the permission is granted and the account's plan includes object storage; the platform then starts this anew.
const storage = PlatformServicesClient.fromEnv().objectStorage();
const photos = storage && new PhotoStore(storage);

const ID = /^\d{13}-[0-9a-f]{8}$/;
const NAME = /^[^\p{Cc}/]{1,100}$/u;
const TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', 'image/heic']);
const LARGEST_PHOTO = 1024 ** 3;
const LARGEST_THUMBNAIL = 1024 ** 2;

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    // Half of a photo must not look complete.
    if (response.headersSent) return response.destroy();
    // The SDK of the page turns this shape into an error with `code` and `message`.
    const { status, ...problem } = problemOf(error);
    json(response, status, problem);
  });
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request, response) {
  if (photos === null) throw new Problem(503, 'no_storage', 'This backend has no object storage.');
  const { pathname, searchParams } = new URL(request.url, 'http://self');
  const [, collection, id = ''] = pathname.split('/');
  const { method } = request;
  if (collection === 'photos' && id === '' && method === 'GET')
    return json(response, 200, await photos.list(searchParams.get('after') ?? undefined));
  if (!ID.test(id)) throw new Problem(404, 'not_found', 'There is nothing here.');
  if (collection === 'thumbnails') return thumbnail(id, request, response);
  if (collection !== 'photos') throw new Problem(404, 'not_found', 'There is nothing here.');
  if (method === 'DELETE') {
    await photos.remove(id);
    return json(response, 200, {});
  }
  const name = searchParams.get('name') ?? '';
  if (!NAME.test(name)) throw new Problem(400, 'invalid_request', 'A photo has a name of 1 to 100 characters.');
  if (method === 'GET') return send(response, await photos.photo(id, name));
  if (method !== 'PUT') throw new Problem(405, 'method_not_allowed', 'This method is not offered.');
  await photos.add(id, name, upload(request, LARGEST_PHOTO));
  json(response, 201, {});
}

async function thumbnail(id, request, response) {
  if (request.method === 'GET') return send(response, await photos.thumbnail(id));
  if (request.method !== 'PUT') throw new Problem(405, 'method_not_allowed', 'This method is not offered.');
  await photos.addThumbnail(id, upload(request, LARGEST_THUMBNAIL));
  json(response, 201, {});
}

function upload(request, largest) {
  const { 'content-type': type, 'content-length': length } = request.headers;
  if (!TYPES.has(type))
    throw new Problem(415, 'unsupported_media_type', 'Photo Box keeps JPEG, PNG, WebP, GIF, AVIF and HEIC.');
  if (!(Number(length) > 0 && Number(length) <= largest))
    throw new Problem(413, 'payload_too_large', `A photo has at most ${largest / 1024 ** 2} MiB.`);
  return { type, body: request };
}

/** An answer of the store, as it arrives. */
async function send(response, { Body, ContentLength, ContentType }) {
  const type = TYPES.has(ContentType) ? ContentType : 'application/octet-stream';
  response.writeHead(200, { 'content-type': type, 'content-length': ContentLength });
  await pipeline(Body, response);
}

class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

function problemOf(error) {
  if (error instanceof Problem) return { status: error.status, code: error.code, detail: error.message };
  if (error instanceof NoSuchKey)
    return { status: 404, code: 'not_found', detail: 'This photo is not there any more.' };
  console.error(error);
  // What the platform refuses, it says in words for the person: a permission turned off, a plan that ended.
  if (error instanceof S3ServiceException && error.name === 'AccessDenied')
    return { status: 403, code: 'no_storage', detail: error.message };
  return { status: 502, code: 'upstream_failed', detail: 'The photo store did not answer as expected. Try again.' };
}

function json(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

server.listen(process.env.PORT, () => console.log(`Photo Box listens on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
