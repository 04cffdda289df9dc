// Serves the frontends of apps, each from a host of its own: static files out of the package, under the app's headers.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  checkRequestTarget,
  errors,
  normaliseStaticPath,
  type Refusal,
  RefusalError,
  refuse,
} from '@platform/contract';
import { sendProblem } from '@platform/http';
import { isServed } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import type { Previewed } from '../drafts/face.ts';
import type { FailedLookups } from '../http/callers/failed-lookups.ts';
import { emptyHostHeaders, previewHeaders } from './app-headers.ts';
import { chooseFile } from './choose-file.ts';
import { noneMatchHits, rangeOf } from './conditions.ts';
import { contentType } from './content-types.ts';
import { type FrontendHost, FrontendHosts } from './frontend-hosts.ts';
import { PackageFiles } from './package-files.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  app: { readonly appId: string; readonly hostLabel: string },
) => Promise<void>;

/** The handler of every app host. Takes no credential, sets no cookie, and changes nothing. */
export function frontendHandler(context: CoreContext, failures: FailedLookups): Serve {
  const hosts = new FrontendHosts(context, failures);
  const files = new PackageFiles(context);
  const emptyHost = emptyHostHeaders(context.config);
  const previewed = previewHeaders(context.config);
  return async (request, response, { appId, hostLabel }) => {
    const requestId = context.random(12).toString('base64url');
    response.setHeaders(new Map(Object.entries(emptyHost)));
    response.setHeader('x-request-id', requestId);
    try {
      const host = await hosts.find({ appId, hostLabel }, request);
      if (host === null) throw refuse('not_found');
      if ('files' in host) {
        response.setHeaders(new Map(Object.entries(previewed)));
        answerPreview({ request, response }, host);
        return;
      }
      if (isInOwnTab(request)) {
        response.writeHead(303, { location: `${context.config.origin}/#/app/${appId}`, 'content-length': 0 }).end();
        return;
      }
      response.setHeaders(new Map(Object.entries(host.headers)));
      await answer({ request, response }, host, files);
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      writeRefusal({ request, response }, error.refusal, requestId);
    }
  };
}

async function answer({ request, response }: Exchange, host: FrontendHost, files: PackageFiles): Promise<void> {
  const { query, ...target } = readTarget(request);
  const names = await files.names(host.packageHash);
  const choice = chooseFile(names, host.entry, { ...target, wantsPage: wantsPage(request) });
  if (choice.kind === 'none') throw refuse('not_found');
  response.setHeader('cache-control', 'private, no-cache');
  if (choice.kind === 'redirect') {
    response.writeHead(307, { location: choice.path + query, 'content-length': 0 }).end();
    return;
  }
  const etag = entityTag(host, choice.name);
  response.setHeader('etag', etag);
  if (noneMatchHits(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  const handle = await files.open(host.packageHash, choice.name);
  try {
    await sendFile({ request, response }, { handle, etag, type: contentType(choice.name) });
  } finally {
    await handle.close();
  }
}

/** Nothing is kept of it, in no browser. */
function answerPreview({ request, response }: Exchange, { entry, files }: Previewed): void {
  const { query, ...target } = readTarget(request);
  // A page that is tried has no tab of its own: nothing there would say what it is.
  if (isInOwnTab(request)) throw refuse('not_found');
  const names = new Set([...files.keys()].filter(isServed));
  const choice = chooseFile(names, entry, { ...target, wantsPage: wantsPage(request) });
  if (choice.kind === 'none') throw refuse('not_found');
  response.setHeader('cache-control', 'no-store');
  if (choice.kind === 'redirect') {
    response.writeHead(307, { location: choice.path + query, 'content-length': 0 }).end();
    return;
  }
  const bytes = files.get(choice.name) ?? Buffer.alloc(0);
  response.writeHead(200, { 'content-type': contentType(choice.name), 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

interface Target {
  readonly segments: readonly string[];
  readonly trailingSlash: boolean;
  /** With its question mark, or empty; safe to stand in a header. */
  readonly query: string;
}

/** @throws RefusalError for anything but a plain request for a file */
function readTarget(request: IncomingMessage): Target {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw refuse('method_not_allowed', 'An app host serves files only.', { allow: ['GET', 'HEAD'] });
  refuseUnending(request);
  const url = request.url ?? '';
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const segments = normaliseStaticPath(path);
  if (segments === null) throw refuse(checkRequestTarget(path).ok ? 'not_found' : 'invalid_path');
  const query = mark === -1 ? '' : url.slice(mark);
  return { segments, trailingSlash: path.endsWith('/'), query: /^[!-~]*$/.test(query) ? query : '' };
}

/** What a page of an app loads that ends with it at the latest (Fetch, `Sec-Fetch-Dest`). */
const ENDING = new Set([
  ...['document', 'iframe', 'frame', 'empty', 'script', 'style', 'image', 'font', 'json', 'manifest', 'text', 'xslt'],
  ...['audio', 'video', 'track', 'worker', 'audioworklet', 'paintworklet'],
]);

/**
 * Shared workers may live longer than every page of theirs, and service workers outlive their version too and see the
 * capability in the address of every launch; of what browsers add nobody knows.
 *
 * @throws RefusalError `not_authorized`
 */
function refuseUnending({ headers }: IncomingMessage): void {
  const use = headers['service-worker'] === undefined ? headers['sec-fetch-dest'] : 'serviceworker';
  if (typeof use === 'string' && !ENDING.has(use))
    throw refuse('not_authorized', `Apps load nothing as ${use}: it could run on when the app was left.`);
}

/** There the app would have neither the bar above it that says whose page this is, nor what ends it when it is left. */
function isInOwnTab({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-dest'] === 'document' && headers['sec-fetch-mode'] === 'navigate';
}

function wantsPage(request: IncomingMessage): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}

/** A person in a frame reads a sentence, a program the problem document. */
function writeRefusal({ request, response }: Exchange, refusal: Refusal, requestId: string): void {
  // The rest of an unexpected body is not read.
  if (refusal.code === 'method_not_allowed') response.setHeader('connection', 'close');
  if (!wantsPage(request)) {
    sendProblem(response, refusal, { requestId });
    return;
  }
  const { status, title } = errors[refusal.code];
  const text = Buffer.from(`${refusal.detail ?? title}\n`);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': text.length,
    'cache-control': 'no-store',
    ...(refusal.allow === undefined ? {} : { allow: refusal.allow.join(', ') }),
  });
  response.end(text);
}

/**
 * A package never changes, so its hash and the path say all about the bytes. The headers are part of it: RFC 9111
 * section 3.2 has a cache update its copy from a 304, but WebKit keeps the fields that begin with `content-`, and so the
 * former content security policy. A revoked origin therefore changes the tag.
 */
function entityTag({ packageHash, headersTag }: FrontendHost, name: string): string {
  return `"${createHash('sha256').update(`${headersTag}/${packageHash}/${name}`).digest('base64url').slice(0, 27)}"`;
}

async function sendFile(
  { request, response }: Exchange,
  file: { readonly handle: FileHandle; readonly etag: string; readonly type: string },
): Promise<void> {
  const { size } = await file.handle.stat();
  const range = request.method === 'GET' ? rangeOf(request.headers, { etag: file.etag, size }) : 'whole';
  response.setHeader('accept-ranges', 'bytes');
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return;
  }
  const part = range === 'whole' ? { start: 0, end: size - 1 } : range;
  response.setHeader('content-type', file.type);
  response.setHeader('content-length', part.end - part.start + 1);
  if (range !== 'whole') response.setHeader('content-range', `bytes ${part.start}-${part.end}/${size}`);
  response.writeHead(range === 'whole' ? 200 : 206);
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  try {
    await pipeline(file.handle.createReadStream({ ...part, autoClose: false }), response);
  } catch (error) {
    if (!hasLeft(error)) throw error;
  }
}

/** The browser went away in the middle of a file, which is its right. */
function hasLeft(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
}
