// Serves the built shell from memory: a few small files, compressed by the build, under the strictest policy we know.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as path from 'node:path';
import type { Refusal } from '@platform/contract';
import { sendProblem } from '@platform/http';
import { type CoreConfig, originParts } from '../../config/config.ts';
import { StartError } from '../../config/start-error.ts';
import { isPageVisit, writeNothingHerePage } from './plain-page.ts';

interface ShellFile {
  readonly type: string;
  readonly etag: string;
  /** Named by its content hash, so that it never changes. */
  readonly immutable: boolean;
  readonly content: Buffer;
  /** The content as the build compressed it, by coding. */
  readonly compressed: ReadonlyMap<Coding, Buffer>;
}

type Coding = 'br' | 'gzip';

/** Best first; each lies beside the file under its name with this ending. */
const CODINGS: readonly (readonly [Coding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

type ShellConfig = Pick<CoreConfig, 'shellDirectory' | 'origin' | 'appsDomain'>;

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** @throws StartError `shell_missing` when the shell was not built */
export async function shellFiles(config: ShellConfig, requestId: () => string): Promise<Serve> {
  const files = await load(config.shellDirectory);
  const headers = shellHeaders(config);
  const refuse = (response: ServerResponse, refusal: Refusal): void => {
    sendProblem(response, refusal);
  };
  return async (request, response) => {
    response.setHeader('x-request-id', requestId());
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const name = mark === -1 ? url : url.slice(0, mark);
    const file = files.get(name === '/' ? '/index.html' : name);
    if (file === undefined) {
      if (isPageVisit(request)) writeNothingHerePage(response, requestId());
      else refuse(response, { code: 'not_found' });
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, { code: 'method_not_allowed', allow: ['GET', 'HEAD'] });
    const caching = file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache';
    const common = { ...headers, etag: file.etag, 'cache-control': caching, vary: 'Accept-Encoding' };
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304, common).end();
      return;
    }
    const { coding, body } = chooseCoding(file, request.headers['accept-encoding']);
    response.writeHead(200, {
      ...common,
      'content-type': file.type,
      'content-length': body.length,
      ...(coding === null ? {} : { 'content-encoding': coding }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

function chooseCoding(file: ShellFile, accepted: string | undefined): { coding: Coding | null; body: Buffer } {
  const names = (accepted ?? '').split(',').map((part) => part.trim());
  const accepts = (name: string) =>
    names.some((part) => part === name || (part.startsWith(`${name};`) && !/;\s*q=0(\.0*)?$/.test(part)));
  for (const [coding] of CODINGS) {
    const body = file.compressed.get(coding);
    if (body !== undefined && accepts(coding)) return { coding, body };
  }
  return { coding: null, body: file.content };
}

async function load(directory: string): Promise<Map<string, ShellFile>> {
  const files = new Map<string, ShellFile>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new StartError('shell_missing', 'The shell is not built. Start with `npm start`, which builds it.', {
      cause: error,
    });
  });
  for (const entry of entries) {
    if (!entry.isFile() || CODINGS.some(([, ending]) => entry.name.endsWith(ending))) continue;
    const full = path.join(entry.parentPath, entry.name);
    const name = `/${path.relative(directory, full).split(path.sep).join('/')}`;
    files.set(name, await prepare(name, full));
  }
  if (!files.has('/index.html'))
    throw new StartError('shell_missing', 'The built shell has no index.html. Build it again with `npm start`.');
  return files;
}

async function prepare(name: string, file: string): Promise<ShellFile> {
  const content = await readFile(file);
  const compressed = new Map<Coding, Buffer>();
  for (const [coding, ending] of CODINGS) {
    if (existsSync(file + ending)) compressed.set(coding, await readFile(file + ending));
  }
  return {
    type: TYPES[path.extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`,
    immutable: name.startsWith('/assets/'),
    content,
    compressed,
  };
}

function shellHeaders(config: ShellConfig): Record<string, string> {
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
  };
}
