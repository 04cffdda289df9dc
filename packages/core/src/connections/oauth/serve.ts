// What clients outside the platform reach at the connect origin before they have a token, and when they want another one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { clientNetwork, limits, type RateLimitName, type Refusal, refuse } from '@platform/contract';
import { readBody } from '@platform/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import type { TakeRate } from '../../http/rates/rate-limit.ts';
import type { ConnectServer } from '../../http/server/connect-server.ts';
import { connectChallenge, isConnectPath, PATHS, readToolsPath, requestCookie } from '../addresses.ts';
import { takeContinuation } from '../request-queries.ts';
import type { DocumentOptions } from './client-documents.ts';
import { metadataAt } from './metadata.ts';
import type { OpenProvider } from './provider.ts';
import { expiredPage, notUnderstoodPage } from './refused-page.ts';
import { registerClient } from './register.ts';

const BODY_MILLISECONDS = 10_000;
/** Readable by pages of any origin, never with credentials: what is there is public, or needs what only the client has. */
const ANYWHERE = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After, X-Request-Id' };
const PREFLIGHT = {
  'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name',
  'access-control-max-age': '600',
};
const READABLE = { 'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Request-Id' };
const NEVER_A_PAGE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly rate: RateLimitName;
  /** Pages elsewhere may call it. */
  readonly anywhere: boolean;
  run(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Opens nothing; what serves clients is loaded with the first request of one. */
export function connectServer(
  context: CoreContext,
  { takeRate, documents = {} }: { readonly takeRate: TakeRate; readonly documents?: DocumentOptions | undefined },
): ConnectServer {
  const { config } = context;
  let opened: Promise<OpenProvider> | undefined;
  const provider = (): Promise<OpenProvider> => {
    // A platform to which nobody connects a client does without its memory.
    opened ??= import('./provider.ts').then(
      ({ openProvider }) => openProvider(context, documents),
      (error: unknown) => {
        opened = undefined;
        throw error;
      },
    );
    return opened;
  };
  const toProvider = async (request: FastifyRequest, reply: FastifyReply) => {
    const raw = request.method === 'POST' ? await replayed(request.raw) : request.raw;
    const { answer } = await provider();
    begin(request, reply, ANYWHERE);
    await answer(raw, reply.raw);
  };

  const endpoints: Readonly<Record<string, Endpoint>> = {
    [PATHS.authorize]: {
      ...{ method: 'GET', rate: 'connectionRequest', anywhere: false },
      async run(request, reply) {
        const { answer } = await provider();
        begin(request, reply, {});
        // Its other modes are pages of its own.
        if (
          queryOf(request.url)
            .getAll('response_mode')
            .every((mode) => mode === 'query')
        )
          await answer(request.raw, reply.raw);
        else sendPage(reply.raw, notUnderstoodPage(config));
      },
    },
    [PATHS.token]: { method: 'POST', rate: 'connectionToken', anywhere: true, run: toProvider },
    [PATHS.revoke]: { method: 'POST', rate: 'connectionToken', anywhere: true, run: toProvider },
    [PATHS.register]: {
      ...{ method: 'POST', rate: 'clientRegistration', anywhere: true },
      async run(request, reply) {
        if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
          throw refuse('unsupported_media_type');
        const limit = limits.clientRegistrationBody.value;
        const body = await readBody(request.raw, { limit, milliseconds: BODY_MILLISECONDS });
        const answer = await registerClient(context, body);
        begin(request, reply, ANYWHERE);
        send(reply.raw, answer.status, answer.body, { 'cache-control': 'no-store' });
      },
    },
  };
  /** The browser in which a request was decided goes on. */
  const goOn: Endpoint = {
    ...{ method: 'GET', rate: 'connectionRequest', anywhere: false },
    async run(request, reply) {
      const { id, continuation } = continuing(request.url);
      const isBeginner = cookies(request.raw).includes(`${requestCookie(config)}=${id}`);
      const taken = isBeginner && (await mayGoOn(context, id, continuation));
      const { answer } = await provider();
      begin(request, reply, {});
      if (taken) await answer(request.raw, reply.raw);
      else sendPage(reply.raw, expiredPage(config));
    },
  };

  return {
    isPath: isConnectPath,
    async answer(request, reply) {
      const path = pathOf(request.url);
      const document = metadataAt(config, path);
      const endpoint = endpoints[path] ?? (/^\/oauth\/authorize\/[\w-]+$/.test(path) ? goOn : undefined);
      if (document === undefined && endpoint === undefined) throw refuse('not_found');
      const { method, anywhere } = endpoint ?? { method: 'GET', anywhere: true };
      const offered = method === 'GET' && endpoint === undefined ? ['GET', 'HEAD'] : [method];
      if (anywhere) reply.headers(ANYWHERE);
      if (request.method === 'OPTIONS' && anywhere) {
        begin(request, reply, ANYWHERE);
        const allowed = { ...PREFLIGHT, 'access-control-allow-methods': offered.join(', ') };
        reply.raw.writeHead(204, allowed).end();
        return;
      }
      if (!offered.includes(request.method)) throw refuse('method_not_allowed', undefined, { allow: offered });
      if (endpoint !== undefined) {
        await takeRate(endpoint.rate, clientNetwork(request.ip));
        await endpoint.run(request, reply);
      } else if (document !== undefined) {
        begin(request, reply, ANYWHERE);
        send(reply.raw, 200, document, { 'cache-control': 'public, max-age=300' });
      }
    },
    fields(path, { origin, refused }) {
      const target = readToolsPath(path);
      if (target === null) return null;
      return {
        // Whether the page may is checked with its token; without one there is nothing to read.
        ...(origin === undefined ? {} : { 'access-control-allow-origin': origin, ...READABLE, ...PREFLIGHT }),
        ...(refused?.code === 'unauthenticated' || refused?.code === 'session_expired'
          ? { 'www-authenticate': connectChallenge(config, target, presentedError(refused)) }
          : {}),
      };
    },
    close: async () => (await opened)?.close(),
  };
}

/** A token that came and is none any more; without one there is no error to tell (RFC 6750, section 3.1). */
function presentedError({ detail }: Refusal): { readonly error?: 'invalid_token' } {
  return detail === undefined ? {} : { error: 'invalid_token' };
}

async function mayGoOn({ database, clock }: CoreContext, id: string, continuation: string): Promise<boolean> {
  const [idHash, continuationHash] = [hashCredential(id), hashCredential(continuation)];
  return takeContinuation(database, { idHash, continuationHash, now: clock() });
}

function continuing(url: string): { readonly id: string; readonly continuation: string } {
  const id = pathOf(url).slice(PATHS.authorize.length + 1);
  return { id, continuation: queryOf(url).get('decided') ?? '' };
}

function sendPage(response: ServerResponse, { status, headers, body }: ReturnType<typeof expiredPage>): void {
  response.writeHead(status, headers).end(body);
}

/** From here on the answer is written past fastify. */
function begin(request: FastifyRequest, reply: FastifyReply, fields: Readonly<Record<string, string>>): void {
  reply.hijack();
  for (const [name, value] of Object.entries({ 'x-request-id': request.id, ...NEVER_A_PAGE, ...fields }))
    reply.raw.setHeader(name, value);
}

function send(response: ServerResponse, status: number, body: object, fields: Readonly<Record<string, string>>): void {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...fields });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

/** The request with a body that was read within our limits. @throws RefusalError `payload_too_large` */
async function replayed(request: IncomingMessage): Promise<IncomingMessage> {
  const limit = limits.connectionBody.value;
  const body = await readBody(request, { limit, milliseconds: BODY_MILLISECONDS });
  const { 'transfer-encoding': _chunked, ...headers } = request.headers;
  const { method, url, socket, httpVersion } = request;
  const read = { headers: { ...headers, 'content-length': String(body.length) }, method, url, socket, httpVersion };
  return Object.assign(Readable.from(body.length === 0 ? [] : [body]), read) as unknown as IncomingMessage;
}

function cookies({ headers }: IncomingMessage): string[] {
  return (headers.cookie ?? '').split(';').map((pair) => pair.trim());
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}
