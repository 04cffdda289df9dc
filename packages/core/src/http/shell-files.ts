// Serves the built shell from memory: a few small files, compressed once, under the strictest policy we know.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { type CoreConfig, originParts } from '../config/config.ts';
import { StartError } from '../config/start-error.ts';
import { writeProblem } from './problem.ts';

interface ShellFile {
  readonly type: string;
  readonly etag: string;
  /** Named by its content hash, so that it never changes. */
  readonly immutable: boolean;
  readonly encodings: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** @throws StartError `shell_missing` when the shell was not built */
export async function shellFiles(config: CoreConfig, requestId: () => string): Promise<Serve> {
  const files = await load(config.shellDirectory);
  const headers = shellHeaders(config);
  return async (request, response) => {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const name = mark === -1 ? url : url.slice(0, mark);
    const file = files.get(name === '/' ? '/index.html' : name);
    if (file === undefined) return writeProblem(response, { code: 'not_found' }, requestId());
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return writeProblem(response, { code: 'method_not_allowed', allow: ['GET', 'HEAD'] }, requestId());
    const caching = file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache';
    const common = { ...headers, etag: file.etag, 'cache-control': caching, vary: 'Accept-Encoding' };
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304, common).end();
      return;
    }
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    const body = file.encodings[encoding];
    response.writeHead(200, {
      ...common,
      'content-type': file.type,
      'content-length': body.length,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

function chooseEncoding(accepted: string | undefined): 'identity' | 'gzip' | 'br' {
  const names = (accepted ?? '').split(',').map((part) => part.trim());
  const accepts = (name: string) =>
    names.some((part) => part === name || (part.startsWith(`${name};`) && !/;\s*q=0(\.0*)?$/.test(part)));
  if (accepts('br')) return 'br';
  return accepts('gzip') ? 'gzip' : 'identity';
}

async function load(directory: string): Promise<Map<string, ShellFile>> {
  const files = new Map<string, ShellFile>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new StartError('shell_missing', 'The shell is not built. Start with `npm start`, which builds it.', {
      cause: error,
    });
  });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const full = path.join(entry.parentPath, entry.name);
    const name = `/${path.relative(directory, full).split(path.sep).join('/')}`;
    files.set(name, await prepare(name, await readFile(full)));
  }
  if (!files.has('/index.html'))
    throw new StartError('shell_missing', 'The built shell has no index.html. Build it again with `npm start`.');
  return files;
}

async function prepare(name: string, content: Buffer): Promise<ShellFile> {
  const [gzipped, brotli] = await Promise.all([promisify(gzip)(content), promisify(brotliCompress)(content)]);
  return {
    type: TYPES[path.extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`,
    immutable: name.startsWith('/assets/'),
    encodings: { identity: content, gzip: gzipped, br: brotli },
  };
}

function shellHeaders(config: CoreConfig): Record<string, string> {
  const { scheme, port } = originParts(config);
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    `frame-src ${scheme}://*.${config.appsDomain}${port}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // Makes the address of the service worker, and no other.
    'trusted-types service-worker',
  ];
  return {
    'content-security-policy': policy.join('; '),
    'permissions-policy':
      'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(scheme === 'https' ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}
